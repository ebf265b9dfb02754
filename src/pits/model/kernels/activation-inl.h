// The non-linearities on vectors, for the Highway kernels that include this file once for every SIMD target.
#if defined(PITS_MODEL_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PITS_MODEL_ACTIVATION_INL_H
#undef PITS_MODEL_ACTIVATION_INL_H
#else
#define PITS_MODEL_ACTIVATION_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>

#include "pits/core/simd/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {

struct Relu {
  static HWY_INLINE Vector value(Vector z) { return hn::Max(z, hn::Zero(Tag())); }
  static HWY_INLINE Vector times_slope(Vector a, Vector delta) {
    return hn::IfThenElseZero(hn::Gt(a, hn::Zero(Tag())), delta);
  }
};

struct Tanh {
  static HWY_INLINE Vector value(Vector z) { return hn::Tanh(Tag(), z); }
  static HWY_INLINE Vector times_slope(Vector a, Vector delta) { return hn::NegMulAdd(hn::Mul(a, a), delta, delta); }
};

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
