#include "pits/model/kernels/local_reparameterisation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/model/kernels/local_reparameterisation.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/highway.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void Perturb(float* HWY_RESTRICT z, const float* HWY_RESTRICT variance, float floor, float* HWY_RESTRICT noise,
             std::size_t n) {
  const hn::ScalableTag<float> d;
  const std::size_t N = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + N <= n; i += N) {
    const auto s = hn::Sqrt(hn::Add(hn::LoadU(d, variance + i), hn::Set(d, floor)));
    const auto e = hn::LoadU(d, noise + i);
    hn::StoreU(hn::MulAdd(s, e, hn::LoadU(d, z + i)), d, z + i);
    hn::StoreU(hn::Div(e, hn::Add(s, s)), d, noise + i);
  }
  for (; i < n; ++i) {
    const float s = std::sqrt(variance[i] + floor);
    z[i] += s * noise[i];
    noise[i] /= s + s;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pits {

HWY_EXPORT(Perturb);

void perturb(std::span<float> z, std::span<const float> variance, float floor, std::span<float> noise) {
  HWY_DYNAMIC_DISPATCH(Perturb)(z.data(), variance.data(), floor, noise.data(), z.size());
}

}  // namespace pits
#endif  // HWY_ONCE
