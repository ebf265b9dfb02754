#include "pits/core/simd/densities.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/core/simd/densities.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<double, piece_nodes>;

// The logarithm of the density over that at the mean, by the square of T.
HWY_INLINE hn::Vec<Tag> LogDensity(double freedom, hn::Vec<Tag> square) {
  const Tag d;
  if (freedom == 0.0) return hn::Mul(hn::Set(d, -0.5), square);
  const auto log = hn::Log1p(d, hn::Mul(hn::Set(d, 1.0 / freedom), square));
  return hn::Mul(hn::Set(d, -0.5 * (freedom + 1.0)), log);
}

void FindDensities(const PieceLaw& law, double centre, double half, const PieceRule& rule, PieceRow& f, PieceRow& F) {
  const Tag d;
  const auto offset = hn::Set(d, (centre - law.mean) / law.scale), step = hn::Set(d, half / law.scale);
  for (std::size_t i = 0; i < piece_nodes; i += hn::Lanes(d)) {
    const auto t = hn::MulAdd(step, hn::LoadU(d, &rule.x[i]), offset);
    const auto density = hn::Exp(d, LogDensity(law.freedom, hn::Mul(t, t)));
    hn::StoreU(hn::Mul(hn::Set(d, half * law.factor), density), d, &f[i]);
  }
  for (std::size_t i = 0; i < piece_nodes; i += hn::Lanes(d)) {
    auto below = hn::Set(d, 1.0 - law.tail);
    for (std::size_t j = 0; j < piece_nodes; ++j) {
      below = hn::NegMulAdd(hn::Set(d, f[j]), hn::LoadU(d, &rule.above[j][i]), below);
    }
    hn::StoreU(hn::Max(below, hn::Zero(d)), d, &F[i]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pits {

HWY_EXPORT(FindDensities);

void find_densities(const PieceLaw& law, double centre, double half, const PieceRule& rule, PieceRow& f, PieceRow& F) {
  HWY_DYNAMIC_DISPATCH(FindDensities)(law, centre, half, rule, f, F);
}

}  // namespace pits
#endif  // HWY_ONCE
