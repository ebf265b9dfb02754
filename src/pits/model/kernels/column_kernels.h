// What is looked for in a column of a minibatch's contexts, in one pass over its numbers.
#pragma once

#include <cstddef>
#include <span>

namespace pits {

struct ColumnSurvey {
  std::size_t differing = 0;            // numbers that are not `base`
  float lowest = 0.0F, highest = 0.0F;  // of those, where there are any
  bool bf16 = true;                     // all numbers are bf16 numbers
};
ColumnSurvey survey_column(std::span<const float> numbers, float base);

// out = 1 where a number is not `base`, else 0.
void mark_differences(std::span<const float> numbers, float base, std::span<float> out);

// The numbers as sums of three bf16 numbers each (core/simd/tiles.h).
void split_column(std::span<const float> numbers, std::span<float> first, std::span<float> second,
                  std::span<float> third);

}  // namespace pits
