// The units in which networks see contexts and rewards: as they come, or standardised by the mean and the standard
// deviation of what has arrived so far, column by column. Nothing looks ahead: what has arrived counts from the next
// settle() on, so that decisions and trainings between two of them agree.
#pragma once

#include <span>
#include <vector>

#include "pits/core/archive.h"
#include "pits/core/fields.h"
#include "pits/core/matrix.h"
#include "pits/model/minibatch.h"

namespace pits {

enum class UnitsKind { raw, standardised };
template <>
struct EnumNames<UnitsKind> {
  static const std::vector<std::string>& names();
};

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

class Units {
 public:
  Units(UnitsKind kind, std::size_t context_size);

  void observe(std::span<const float> x, float reward);
  void settle();

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

  void state(Archive& archive) { archive(contexts_, rewards_, low_, high_, scale_, shift_, factor_); }

 private:
  bool standardised() const { return kind_ == UnitsKind::standardised; }

  UnitsKind kind_;
  RunningMoments contexts_, rewards_;
  double low_, high_;
  // Settled:
  RewardScale scale_;
  std::vector<double> shift_, factor_;  // (d) z = (x − shift)·factor
};

}  // namespace pits
