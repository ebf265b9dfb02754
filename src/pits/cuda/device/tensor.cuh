// Products of small fragments on the tensor cores, and how float32 goes through them.
//
// A fragment is spread over the 32 lanes of a warp; with g = lane/4 and t = lane%4 a lane holds, of 16×8 by 8×8,
//   A: (g,t) (g+8,t) (g,t+4) (g+8,t+4)     B: (t,g) (t+4,g)     C: (g,2t) (g,2t+1) (g+8,2t) (g+8,2t+1),
// and of 16×16 by 16×8 in halves, two side by side in a word,
//   A: (g,2t) (g+8,2t) (g,2t+8) (g+8,2t+8)     B: (2t,g) (2t+8,g)     C: as above.
// The summed index may be renamed at will as long as A and B agree.
#pragma once

#include <cuda_fp16.h>
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

// The same of halves.
__device__ inline void multiply_add_halves(float (&c)[4], const uint4& a, const uint2& b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
}

__device__ inline std::uint32_t two_halves(float low, float high) {
  const __half2 two = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&two);
}

// e with 2^e ≤ x < 2^(e+1), of x ≥ 0; kept where 2^e and 2^−e are both normal floats.
__device__ inline int exponent_of(float x) {
  const int e = static_cast<int>(__float_as_uint(x) >> 23) - 127;
  return max(-126, min(e, 126));
}

// 2^e for |e| ≤ 126.
__device__ inline float power_of_two(int e) { return __uint_as_float(static_cast<std::uint32_t>(e + 127) << 23); }

// The largest over the lanes, of x ≥ 0.
__device__ inline float largest_of_lanes(float x) {
  return __uint_as_float(__reduce_max_sync(0xFFFFFFFFU, __float_as_uint(x)));
}

}  // namespace pits::cuda
