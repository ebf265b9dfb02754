// Libraries of CUDA that are loaded when they are first needed.
#pragma once

#include <dlfcn.h>

#include <string>

#include "pits/cuda/device/failure.h"

namespace pits::cuda {

// The library's handle, or null where the system does not find it.
inline void* open_library(const std::string& name) {
  for (const std::string& path : {name, std::string(PITS_CUDA_LIBRARY_DIR) + "/" + name}) {
    if (void* found = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  }
  return nullptr;
}

template <class F>
void find_function(void* library, F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (function == nullptr) throw GpuFailure(std::string("a library of CUDA lacks ") + name);
}

}  // namespace pits::cuda
