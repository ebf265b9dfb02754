// Products of 16×8 by 8×8 fragments on the tensor cores, and how float32 goes through them.
//
// A fragment is spread over the 32 lanes of a warp; with g = lane/4 and t = lane%4 a lane holds
//   A: (g,t) (g+8,t) (g,t+4) (g+8,t+4)     B: (t,g) (t+4,g)     C: (g,2t) (g,2t+1) (g+8,2t) (g+8,2t+1).
// The summed index may be renamed at will as long as A and B agree.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace pits::cuda {

// Tensor cores drop the last 13 bits of a float: half a unit added first makes that a rounding.
__device__ inline std::uint32_t rounded_tf32(float x) { return __float_as_uint(x) + 0x1000U; }

// N numbers of a lane, as operands. Accurate: a leading part and what it leaves, so that the sum of three products is
// one of float32 up to 2⁻²¹.
template <int N, bool Accurate>
struct Operand {
  std::uint32_t high[N];
  std::uint32_t low[Accurate ? N : 1];

  __device__ void set(int i, float x) {
    if constexpr (Accurate) {
      high[i] = __float_as_uint(x) & 0xFFFFE000U;
      low[i] = __float_as_uint(x - __uint_as_float(high[i]));
    } else {
      high[i] = rounded_tf32(x);
    }
  }
  // For numbers that were rounded when they were stored.
  __device__ void set_rounded(int i, float x) {
    if constexpr (Accurate) {
      set(i, x);
    } else {
      high[i] = __float_as_uint(x);
    }
  }
};

__device__ inline void multiply_add(float (&c)[4], const std::uint32_t* a, const std::uint32_t* b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <bool Accurate>
__device__ void multiply_add(float (&c)[4], const Operand<4, Accurate>& a, const Operand<2, Accurate>& b) {
  if constexpr (Accurate) {
    multiply_add(c, a.low, b.high);
    multiply_add(c, a.high, b.low);
  }
  multiply_add(c, a.high, b.high);
}

// What a number must be when it is stored for set_rounded.
template <bool Accurate>
__device__ float storable(float x) {
  return Accurate ? x : __uint_as_float(rounded_tf32(x));
}

}  // namespace pits::cuda
