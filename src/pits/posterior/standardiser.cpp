#include "pits/posterior/standardiser.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pits {

void RunningMoments::observe(std::span<const float> row) {
  count_ += 1.0;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const double before = row[j] - mean_[j];
    mean_[j] += before / count_;
    squares_[j] += before * (row[j] - mean_[j]);
  }
}

Standardiser::Standardiser(UnitsKind kind, std::size_t context_size)
    : kind_(kind),
      size_(context_size + (kind == UnitsKind::robust ? std::min(context_size, RobustConstants::level_columns) : 0)),
      contexts_(kind == UnitsKind::standardised ? context_size : 0),
      rewards_(1),
      low_(std::numeric_limits<double>::infinity()),
      high_(-low_),
      shift_(kind == UnitsKind::standardised ? context_size : 0, 0.0),
      factor_(shift_.size(), 1.0),
      columns_(kind == UnitsKind::robust ? context_size : 0) {}

void Standardiser::observe(std::span<const float> x, float reward) {
  if (kind_ == UnitsKind::standardised) contexts_.observe(x);
  rewards_.observe({&reward, 1});
  low_ = std::min<double>(low_, reward);
  high_ = std::max<double>(high_, reward);
}

// A column that has not varied yet keeps its own scale.
void Standardiser::refresh(const History& history) {
  if (robust()) find_columns(history);
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

std::span<const float> Standardiser::context(std::span<const float> x) const {
  if (!standardised()) return x;
  thread_local std::vector<float> z;
  z.assign(robust() ? size_ : x.size(), 0.0F);
  if (robust()) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      z[j] = columns_[j](x[j]);
      const ColumnUnits::Level* level = columns_[j].level(x[j]);
      if (level != nullptr && level->column != ColumnUnits::unmarked) z[level->column] = 1.0F;
    }
  } else {
    for (std::size_t j = 0; j < x.size(); ++j) z[j] = standardise(x[j], shift_[j], factor_[j]);
  }
  return z;
}

ConstMatrixView<float> Standardiser::columns(ConstMatrixView<float> rows, std::size_t first,
                                             Matrix<float>& copy) const {
  if (!standardised()) return rows;
  copy.reshape(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < rows.cols(); ++j) {
      copy(i, j) = standardise(rows(i, j), shift_[first + j], factor_[first + j]);
    }
  }
  return std::as_const(copy).view();
}

void Standardiser::find_columns(const History& history) {
  const std::size_t n = std::min(history.size(), RobustConstants::most_sample);
  if (n == 0) return;
  thread_local std::vector<float> sample;
  sample.resize(n);
  std::size_t marked = columns_.size();
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    for (std::size_t i = 0; i < n; ++i) sample[i] = history[i * history.size() / n].context[j];
    std::ranges::sort(sample);
    columns_[j] = find_units({sample.data(), n});
    for (ColumnUnits::Level& level : columns_[j].levels) {
      if (marked < size_) level.column = marked++;
    }
  }
}

void Standardiser::apply(Minibatch& batch) const {
  if (!standardised()) return;
  if (robust()) {
    thread_local PaddedMatrix<float> z;
    z.reshape(size_, batch.size());
    for (std::size_t j = columns_.size(); j < size_; ++j) std::ranges::fill(z.row(j), 0.0F);
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const ColumnUnits& units = columns_[j];
      const bool plain = units.levels.empty() && !units.tails;
      for (std::size_t b = 0; b < batch.size(); ++b) {
        const float x = batch.contexts(j, b);
        z(j, b) = plain ? standardise(x, units.centre, units.factor) : units(x);
        const ColumnUnits::Level* level = plain ? nullptr : units.level(x);
        if (level != nullptr && level->column != ColumnUnits::unmarked) z(level->column, b) = 1.0F;
      }
    }
    std::swap(z, batch.contexts);
  }
  for (std::size_t j = 0; j < shift_.size(); ++j) {
    const double shift = shift_[j], factor = factor_[j];
    for (std::size_t b = 0; b < batch.size(); ++b)
      batch.contexts(j, b) = standardise(batch.contexts(j, b), shift, factor);
  }
  for (float& r : batch.rewards) r = static_cast<float>(reward(r));
}

}  // namespace pits
