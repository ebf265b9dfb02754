// Online standardisation of contexts and rewards, column by column, by the mean and standard deviation so far (Welford
// 1962), refreshed at each training; or none. Between two refreshes the units stay fixed, so that decisions and
// trainings agree.
#pragma once

#include <span>
#include <vector>

#include "pits/core/fields.h"
#include "pits/core/io/archive.h"
#include "pits/core/matrix.h"
#include "pits/model/minibatch.h"
#include "pits/posterior/column_units.h"
#include "pits/posterior/history.h"
#include "pits/posterior/standardise.h"

namespace pits {

// Mean and sum of squared deviations of the numbers of each column (Welford 1962).
class RunningMoments {
 public:
  explicit RunningMoments(std::size_t columns) : mean_(columns), squares_(columns) {}

  void observe(std::span<const float> row);
  double count() const { return count_; }
  double mean(std::size_t j) const { return mean_[j]; }
  double variance(std::size_t j) const { return count_ > 0 ? squares_[j] / count_ : 0.0; }

  void state(Archive& archive) { archive(count_, mean_, squares_); }

 private:
  double count_ = 0.0;
  std::vector<double> mean_, squares_;
};

// What is known of the rewards, in their own units.
struct RewardScale {
  double mean = 0.0, sd = 1.0;
  double low = 0.0, high = 0.0;  // the least and the largest so far
  double size = 0.0;             // root of the mean square

  void state(Archive& archive) { archive(mean, sd, low, high, size); }
};

class Standardiser {
 public:
  Standardiser(UnitsKind kind, std::size_t context_size);

  void observe(std::span<const float> x, float reward);
  void refresh(const History& history);

  std::size_t size() const { return size_; }  // numbers of a context in these units
  // x itself, or a standardised copy that is valid until this thread asks again.
  std::span<const float> context(std::span<const float> x) const;
  // Rows of the columns from `first` on: themselves, or a standardised copy in `copy`.
  ConstMatrixView<float> columns(ConstMatrixView<float> rows, std::size_t first, Matrix<float>& copy) const;
  double reward(double r) const { return standardised() ? (r - scale_.mean) / scale_.sd : r; }
  double reward_width(double width) const { return standardised() ? width / scale_.sd : width; }
  double raw_width(double width) const { return standardised() ? width * scale_.sd : width; }
  double raw_reward(double r) const { return standardised() ? scale_.mean + r * scale_.sd : r; }
  void apply(Minibatch& batch) const;

  const RewardScale& reward_scale() const { return scale_; }

  void state(Archive& archive) {
    archive.version("Standardiser", 1)(contexts_, rewards_, low_, high_, scale_, shift_, factor_, columns_);
  }

 private:
  bool standardised() const { return kind_ != UnitsKind::raw; }
  bool robust() const { return kind_ == UnitsKind::robust; }
  void find_columns(const History& history);

  UnitsKind kind_;
  std::size_t size_;
  RunningMoments contexts_, rewards_;
  double low_, high_;
  // As of the last refresh:
  RewardScale scale_;
  std::vector<double> shift_, factor_;  // (d) z = (x − shift)·factor
  std::vector<ColumnUnits> columns_;    // (d), of robust units
};

}  // namespace pits
