#include "pits/core/simd/normals.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/core/simd/normals.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

// (0,1) from 23 bits and half a unit, as Stream::uniform_float.
HWY_INLINE Vector Uniform(const std::uint32_t* words) {
  const hn::RebindToUnsigned<Tag> u;
  const hn::RebindToSigned<Tag> i;
  const auto bits = hn::BitCast(i, hn::ShiftRight<9>(hn::LoadU(u, words)));
  const Tag d;
  return hn::Mul(hn::Add(hn::ConvertTo(d, bits), hn::Set(d, 0.5F)), hn::Set(d, 0x1p-23F));
}

void BoxMuller(const std::uint32_t* HWY_RESTRICT words, float* HWY_RESTRICT out) {
  const Tag d;
  constexpr std::size_t half = normals_chunk / 2;
  for (std::size_t i = 0; i < half; i += hn::Lanes(d)) {
    const Vector radius = hn::Sqrt(hn::Mul(hn::Set(d, -2.0F), hn::Log(d, Uniform(words + i))));
    const Vector turn = hn::Sub(Uniform(words + half + i), hn::Set(d, 0.5F));
    const Vector angle = hn::Mul(hn::Set(d, 2.0F * std::numbers::pi_v<float>), turn);
    hn::StoreU(hn::Mul(radius, hn::Cos(d, angle)), d, out + i);
    hn::StoreU(hn::Mul(radius, hn::Sin(d, angle)), d, out + half + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pits {

HWY_EXPORT(BoxMuller);

void fill_normals(const Address& address, std::span<float> out) {
  std::uint32_t words[normals_chunk];
  float draws[normals_chunk];
  for (std::size_t first = 0; first < out.size(); first += normals_chunk) {
    fill_words(address, static_cast<std::uint32_t>(first), words);
    const std::size_t count = std::min(normals_chunk, out.size() - first);
    const bool whole = count == normals_chunk;
    HWY_DYNAMIC_DISPATCH(BoxMuller)(words, whole ? out.data() + first : draws);
    if (!whole) std::copy_n(draws, count, out.data() + first);
  }
}

}  // namespace pits
#endif  // HWY_ONCE
