#include "pits/model/kernels/sparse_contexts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pits/core/simd/kernels.h"

namespace pits {
namespace {

// Below this the packing of the weights costs more than the zeros.
constexpr std::size_t fewest_columns = 32;
constexpr std::size_t votes = 32;

// The majority of some of the numbers, if they have one (Boyer and Moore 1981); else one of them.
float majority(std::span<const float> numbers) {
  const std::size_t stride = std::max<std::size_t>(1, numbers.size() / votes);
  float candidate = numbers.front();
  int lead = 0;
  for (std::size_t b = 0; b < numbers.size(); b += stride) {
    if (lead == 0) candidate = numbers[b];
    lead += numbers[b] == candidate ? 1 : -1;
  }
  return candidate;
}

// Against a base far larger than they are, differences would lose the digits of the numbers.
constexpr float largest_ratio = 16.0F;

}  // namespace

void SparseContexts::find(const PaddedMatrix<float>& contexts, bool bf16) {
  base.clear();
  observations_ = contexts.cols();
  const bool sparse = contexts.rows() >= fewest_columns && count(contexts);
  tiled = bf16 || (sparse && tiles_in_use());
  if (tiled && sparse) return tiles.set(contexts, base, found_, bf16 ? LeftFactor::rounded : LeftFactor::exact);
  base.resize(sparse ? base.size() : 0);
  if (tiled) return tiles.set_rounded(contexts);
  if (sparse) list(contexts);
}

// The base of every column and the number of differences from it; false where they are too many.
bool SparseContexts::count(const PaddedMatrix<float>& contexts) {
  const std::size_t d = contexts.rows();
  const std::size_t most = contexts.size() / 3;
  base.resize(d);
  found_.resize(d);
  by_column.start.assign(d + 1, 0);
  for (std::size_t l = 0; l < d; ++l) {
    const std::span<const float> numbers = contexts.row(l);
    base[l] = majority(numbers);
    found_[l] = survey_column(numbers, base[l]);
    const float largest = std::max(std::abs(found_[l].lowest), std::abs(found_[l].highest));
    const bool far = found_[l].differing > 0 && std::abs(base[l]) > largest_ratio * largest;
    if (2 * found_[l].differing > numbers.size() || far) {  // no majority, or one too far away: the numbers, unrounded
      base[l] = 0.0F;
      found_[l] = survey_column(numbers, 0.0F);
    }
    by_column.start[l + 1] = by_column.start[l] + static_cast<std::uint32_t>(found_[l].differing);
    if (by_column.start[l + 1] > most) return false;
  }
  return true;
}

void SparseContexts::list(const PaddedMatrix<float>& contexts) {
  const std::size_t entries = by_column.start.back();
  const std::size_t most = contexts.size() / 3;  // memory for this many is taken once and kept
  for (Entries* e : {&by_column, &by_observation}) {
    e->other.reserve(most + 1);
    e->value.reserve(most);
  }
  by_column.other.resize(entries + 1);  // one to spare: an observation is written before it is known to differ
  by_column.value.resize(entries);
  by_observation.start.assign(contexts.cols() + 1, 0);
  for (std::size_t l = 0; l < contexts.rows(); ++l) {
    const std::span<const float> numbers = contexts.row(l);
    std::uint32_t* next = by_column.other.data() + by_column.start[l];
    for (std::uint32_t b = 0; b < numbers.size(); ++b) {
      *next = b;
      next += numbers[b] != base[l] ? 1 : 0;
    }
    for (std::size_t k = by_column.start[l]; k < by_column.start[l + 1]; ++k) {
      const std::uint32_t b = by_column.other[k];
      by_column.value[k] = numbers[b] - base[l];
      ++by_observation.start[b + 1];
    }
  }
  std::partial_sum(by_observation.start.begin(), by_observation.start.end(), by_observation.start.begin());
  list_by_observation();
}

void SparseContexts::list_by_observation() {
  by_observation.other.resize(by_column.value.size());
  by_observation.value.resize(by_column.value.size());
  thread_local std::vector<std::uint32_t> position;
  position.assign(by_observation.start.begin(), by_observation.start.end() - 1);
  for (std::uint32_t l = 0; l < columns(); ++l) {
    for (std::size_t k = by_column.start[l]; k < by_column.start[l + 1]; ++k) {
      const std::uint32_t to = position[by_column.other[k]]++;
      by_observation.other[to] = l;
      by_observation.value[to] = by_column.value[k];
    }
  }
}

}  // namespace pits
