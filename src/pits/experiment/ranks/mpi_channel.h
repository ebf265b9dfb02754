// Messages over MPI; compiled only where CMake finds it.
#pragma once

#include <memory>

#include "pits/experiment/ranks/channel.h"

namespace pits {

// Starts MPI, which ends with the channel: once per program.
std::unique_ptr<Channel> mpi_channel();

}  // namespace pits
