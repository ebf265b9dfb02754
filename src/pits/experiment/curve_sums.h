// Statistics of curves over realizations.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

namespace pits {

// Mean and standard deviation of every point of a curve, by running sums in the order of the realizations
// (Youngs and Cramer, 1971): curves need not be kept.
class CurveSums {
 public:
  void add(const std::vector<double>& curve) {
    sum_.resize(curve.size());
    square_.resize(curve.size());
    ++n_;
    for (std::size_t p = 0; p < curve.size(); ++p) {
      sum_[p] += curve[p];
      const double deviation = n_ * curve[p] - sum_[p];
      if (n_ > 1.0) square_[p] += deviation * deviation / (n_ * (n_ - 1.0));
    }
  }
  std::vector<double> mean() const {
    std::vector<double> mean;
    for (const double sum : sum_) mean.push_back(sum / n_);
    return mean;
  }
  std::vector<double> std() const {
    std::vector<double> std;
    for (const double square : square_) {
      std.push_back(n_ > 1.0 ? std::sqrt(square / (n_ - 1.0)) : std::numeric_limits<double>::quiet_NaN());
    }
    return std;
  }
  std::vector<double> se() const {
    std::vector<double> se = std();
    for (double& x : se) x /= std::sqrt(n_);
    return se;
  }

 private:
  double n_ = 0.0;
  std::vector<double> sum_;
  std::vector<double> square_;  // Σ (x − mean)² so far
};

}  // namespace pits
