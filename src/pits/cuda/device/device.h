// Whether there is a GPU.
#pragma once

namespace pits::cuda {

// GPUs this process can use; 0 also where there is no driver.
int device_count();

}  // namespace pits::cuda
