#include "pits/model/kernels/activation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/model/kernels/activation.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/highway.h>

#include "pits/model/kernels/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {

// The last, partial vector takes the way over a buffer, so that nothing outside z is touched.
template <class F>
HWY_INLINE void ActivateWith(float* HWY_RESTRICT z, std::size_t n) {
  const Tag d;
  const std::size_t N = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + N <= n; i += N) hn::StoreU(F::value(hn::LoadU(d, z + i)), d, z + i);
  HWY_ALIGN float buffer[hn::MaxLanes(Tag())] = {};
  for (std::size_t l = 0; i + l < n; ++l) buffer[l] = z[i + l];
  hn::Store(F::value(hn::Load(d, buffer)), d, buffer);
  for (std::size_t l = 0; i + l < n; ++l) z[i + l] = buffer[l];
}

template <class F>
HWY_INLINE void SlopeWith(const float* HWY_RESTRICT a, float* HWY_RESTRICT delta, std::size_t n) {
  const Tag d;
  const std::size_t N = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + N <= n; i += N) hn::StoreU(F::times_slope(hn::LoadU(d, a + i), hn::LoadU(d, delta + i)), d, delta + i);
  HWY_ALIGN float value[hn::MaxLanes(Tag())] = {};
  HWY_ALIGN float slope[hn::MaxLanes(Tag())] = {};
  for (std::size_t l = 0; i + l < n; ++l) {
    value[l] = a[i + l];
    slope[l] = delta[i + l];
  }
  hn::Store(F::times_slope(hn::Load(d, value), hn::Load(d, slope)), d, slope);
  for (std::size_t l = 0; i + l < n; ++l) delta[i + l] = slope[l];
}

void Activate(Activation f, float* z, std::size_t n) {
  if (f == Activation::relu) {
    ActivateWith<Relu>(z, n);
  } else {
    ActivateWith<Tanh>(z, n);
  }
}

void Slope(Activation f, const float* a, float* delta, std::size_t n) {
  if (f == Activation::relu) {
    SlopeWith<Relu>(a, delta, n);
  } else {
    SlopeWith<Tanh>(a, delta, n);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pits {

HWY_EXPORT(Activate);
HWY_EXPORT(Slope);

void activate(Activation f, std::span<float> z) { HWY_DYNAMIC_DISPATCH(Activate)(f, z.data(), z.size()); }

void multiply_by_slope(Activation f, std::span<const float> a, std::span<float> delta) {
  HWY_DYNAMIC_DISPATCH(Slope)(f, a.data(), delta.data(), delta.size());
}

}  // namespace pits
#endif  // HWY_ONCE
