// Where cells are computed: the GPU where there is one and --device asks for it.
#pragma once

#include <memory>

#include "pits/experiment/ranks/executor.h"

namespace pits::cli {

// The plan of a config with device=auto decided. Throws where the GPU is asked for and there is none, or where an agent
// has no GPU version.
Plan plan_on_device(ExperimentConfig config);

// The program's executor: knows the GPU where pits was built with CUDA.
std::unique_ptr<Executor> make_executor_with_gpu();

}  // namespace pits::cli
