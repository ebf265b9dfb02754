// Letters over MPI; compiled only where CMake finds it.
#pragma once

#include <memory>

#include "pits/experiment/mailbox.h"

namespace pits {

// Starts MPI, which ends with the mailbox: one in the life of a program.
std::unique_ptr<Mailbox> mpi_mailbox();

}  // namespace pits
