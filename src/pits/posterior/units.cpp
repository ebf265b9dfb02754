#include "pits/posterior/units.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pits {
namespace {

// A number further from the mean than this many standard deviations counts as this far: a column that was constant
// until now, or that has one huge number in it, must not drown the others.
constexpr double furthest = 10.0;

float in_units(float x, double shift, double factor) {
  return static_cast<float>(std::clamp((x - shift) * factor, -furthest, furthest));
}

}  // namespace

const std::vector<std::string>& EnumNames<UnitsKind>::names() {
  static const std::vector<std::string> names = {"raw", "standardised"};
  return names;
}

void RunningMoments::observe(std::span<const float> row) {
  count_ += 1.0;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const double before = row[j] - mean_[j];
    mean_[j] += before / count_;
    squares_[j] += before * (row[j] - mean_[j]);
  }
}

Units::Units(UnitsKind kind, std::size_t context_size)
    : kind_(kind),
      contexts_(kind == UnitsKind::standardised ? context_size : 0),
      rewards_(1),
      low_(std::numeric_limits<double>::infinity()),
      high_(-low_),
      shift_(kind == UnitsKind::standardised ? context_size : 0, 0.0),
      factor_(shift_.size(), 1.0) {}

void Units::observe(std::span<const float> x, float reward) {
  if (standardised()) contexts_.observe(x);
  rewards_.observe({&reward, 1});
  low_ = std::min<double>(low_, reward);
  high_ = std::max<double>(high_, reward);
}

// A column that has not varied yet keeps its own scale.
void Units::settle() {
  const auto spread = [](double variance) { return variance > 0.0 ? std::sqrt(variance) : 1.0; };
  for (std::size_t j = 0; j < shift_.size(); ++j) {
    shift_[j] = contexts_.mean(j);
    factor_[j] = 1.0 / spread(contexts_.variance(j));
  }
  if (rewards_.count() == 0.0) return;
  const double mean = rewards_.mean(0), variance = rewards_.variance(0);
  scale_ = {
      .mean = mean, .sd = spread(variance), .low = low_, .high = high_, .size = std::hypot(mean, std::sqrt(variance))};
}

std::span<const float> Units::context(std::span<const float> x) const {
  if (!standardised()) return x;
  thread_local std::vector<float> z;
  z.resize(x.size());
  for (std::size_t j = 0; j < x.size(); ++j) z[j] = in_units(x[j], shift_[j], factor_[j]);
  return z;
}

ConstMatrixView<float> Units::columns(ConstMatrixView<float> rows, std::size_t first, Matrix<float>& copy) const {
  if (!standardised()) return rows;
  copy.reshape(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < rows.cols(); ++j) {
      copy(i, j) = in_units(rows(i, j), shift_[first + j], factor_[first + j]);
    }
  }
  return std::as_const(copy).view();
}

void Units::apply(Minibatch& batch) const {
  if (!standardised()) return;
  for (std::size_t j = 0; j < shift_.size(); ++j) {
    const double shift = shift_[j], factor = factor_[j];
    for (std::size_t b = 0; b < batch.size(); ++b) batch.contexts(j, b) = in_units(batch.contexts(j, b), shift, factor);
  }
  for (float& r : batch.rewards) r = static_cast<float>(reward(r));
}

}  // namespace pits
