// Marks functions that run on the CPU and on the GPU.
#pragma once

#ifdef __CUDACC__
#define PITS_HOST_DEVICE __host__ __device__
#else
#define PITS_HOST_DEVICE
#endif
