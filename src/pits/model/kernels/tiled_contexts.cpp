#include "pits/model/kernels/tiled_contexts.h"

#include <algorithm>
#include <utility>

namespace pits {
namespace {

bool two_valued(const ColumnSurvey& found) { return found.lowest == found.highest; }

}  // namespace

void TiledContexts::set(const PaddedMatrix<float>& contexts, std::span<const float> base,
                        std::span<const ColumnSurvey> found, LeftFactor weights) {
  const std::size_t d = contexts.rows(), B = contexts.cols();
  weights_ = weights;
  if (std::ranges::all_of(found, &ColumnSurvey::bf16)) return set_plain(contexts);
  plain_ = false;
  shift_.assign(d, 0.0F);
  factor_.assign(d, 1.0F);
  further_.clear();
  further_.reserve(2 * d);  // memory for any minibatch is taken once and kept
  by_column_.reserve(3 * d, B);
  by_observation_.reserve(B, 3 * d);
  if (numbers_.rows() != 3 * d || numbers_.cols() != B) numbers_.reshape(3 * d, B);
  for (std::size_t l = 0; l < d; ++l) set_column(contexts.row(l), base[l], found[l], l);
  const ConstMatrixView<float> used = std::as_const(numbers_).view().row_block(0, d + further_.size());
  by_column_.pack(used);
  by_observation_.pack_transposed(used);
}

void TiledContexts::set_rounded(const PaddedMatrix<float>& contexts) {
  weights_ = LeftFactor::rounded;
  set_plain(contexts);
}

void TiledContexts::set_plain(const PaddedMatrix<float>& contexts) {
  plain_ = true;
  shift_.assign(contexts.rows(), 0.0F);
  factor_.assign(contexts.rows(), 1.0F);
  further_.clear();
  by_column_.pack(contexts);
  by_observation_.pack_transposed(contexts);
}

void TiledContexts::set_column(std::span<const float> x, float base, const ColumnSurvey& found, std::size_t l) {
  if (found.bf16) {
    std::ranges::copy(x, numbers_.row(l).begin());
  } else if (two_valued(found)) {
    shift_[l] = base;
    factor_[l] = found.differing > 0 ? found.lowest - base : 1.0F;
    mark_differences(x, base, numbers_.row(l));
  } else {
    const std::size_t next = factor_.size() + further_.size();
    further_.insert(further_.end(), 2, static_cast<std::uint32_t>(l));
    split_column(x, numbers_.row(l), numbers_.row(next), numbers_.row(next + 1));
  }
}

}  // namespace pits
