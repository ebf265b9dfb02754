#include "pits/model/kernels/column_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/model/kernels/column_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "pits/core/simd/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {

using Bits = hn::RebindToUnsigned<Tag>;

ColumnSurvey SurveyColumn(std::span<const float> numbers, float base) {
  const Tag d;
  const Bits u;
  constexpr float inf = std::numeric_limits<float>::infinity();
  const Vector common = hn::Set(d, base);
  Vector lowest = hn::Set(d, inf), highest = hn::Set(d, -inf);
  auto bits = hn::Zero(u);
  ColumnSurvey found;
  const auto take = [&](Vector x) HWY_ATTR {
    const auto differs = hn::Ne(x, common);
    found.differing += hn::CountTrue(d, differs);
    lowest = hn::Min(lowest, hn::IfThenElse(differs, x, hn::Set(d, inf)));
    highest = hn::Max(highest, hn::IfThenElse(differs, x, hn::Set(d, -inf)));
    bits = hn::Or(bits, hn::BitCast(u, x));
  };
  const std::size_t N = Width(), n = numbers.size();
  std::size_t b = 0;
  for (; b + N <= n; b += N) take(hn::LoadU(d, numbers.data() + b));
  if (b < n) {  // the missing numbers are taken for the base
    const auto there = hn::FirstN(d, n - b);
    take(hn::IfThenElse(there, LoadFirst(numbers.data() + b, n - b), common));
  }
  found.bf16 = hn::AllTrue(u, hn::Eq(hn::And(bits, hn::Set(u, 0xFFFFU)), hn::Zero(u)));
  if (found.differing > 0) {
    found.lowest = hn::GetLane(hn::MinOfLanes(d, lowest));
    found.highest = hn::GetLane(hn::MaxOfLanes(d, highest));
  }
  return found;
}

template <class Put>
HWY_INLINE void ForVectors(std::span<const float> numbers, const Put& put) {
  const std::size_t N = Width(), n = numbers.size();
  std::size_t b = 0;
  for (; b + N <= n; b += N) put(b, hn::LoadU(Tag(), numbers.data() + b), N);
  if (b < n) put(b, LoadFirst(numbers.data() + b, n - b), n - b);
}

HWY_INLINE void StoreSome(Vector v, std::size_t count, float* to) {
  if (count == Width()) {
    hn::StoreU(v, Tag(), to);
  } else {
    StoreFirst(v, count, to);
  }
}

void MarkDifferences(std::span<const float> numbers, float base, float* out) {
  const Tag d;
  ForVectors(numbers, [&](std::size_t b, Vector x, std::size_t count) HWY_ATTR {
    StoreSome(hn::IfThenElseZero(hn::Ne(x, hn::Set(d, base)), hn::Set(d, 1.0F)), count, out + b);
  });
}

HWY_INLINE Vector UpperHalf(Vector x) {
  const Bits u;
  return hn::BitCast(Tag(), hn::And(hn::Add(hn::BitCast(u, x), hn::Set(u, 0x8000U)), hn::Set(u, 0xFFFF0000U)));
}

void SplitColumn(std::span<const float> numbers, float* first, float* second, float* third) {
  ForVectors(numbers, [&](std::size_t b, Vector x, std::size_t count) HWY_ATTR {
    const Vector high = UpperHalf(x), rest = hn::Sub(x, high), middle = UpperHalf(rest);
    StoreSome(high, count, first + b);
    StoreSome(middle, count, second + b);
    StoreSome(hn::Sub(rest, middle), count, third + b);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pits {

HWY_EXPORT(SurveyColumn);
HWY_EXPORT(MarkDifferences);
HWY_EXPORT(SplitColumn);

ColumnSurvey survey_column(std::span<const float> numbers, float base) {
  return HWY_DYNAMIC_DISPATCH(SurveyColumn)(numbers, base);
}

void mark_differences(std::span<const float> numbers, float base, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(MarkDifferences)(numbers, base, out.data());
}

void split_column(std::span<const float> numbers, std::span<float> first, std::span<float> second,
                  std::span<float> third) {
  HWY_DYNAMIC_DISPATCH(SplitColumn)(numbers, first.data(), second.data(), third.data());
}

}  // namespace pits
#endif  // HWY_ONCE
