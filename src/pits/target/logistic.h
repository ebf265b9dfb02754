// A Bayesian logistic regression with two weights on a small fixed data set: the one target without a closed form.
//   p(w) ∝ exp(−‖w‖²/2σ²) Π_i 1/(1 + exp(−y_i w·x_i)),  y_i = ±1
#pragma once

#include "pits/target/target.h"

namespace pits {

struct LogisticData {
  Matrix<double> x;       // (n,2)
  std::vector<double> y;  // (n), each +1 or −1
};

// 40 points with correlated features and labels drawn at w = (1.5, −1), from one fixed address: always the same.
LogisticData logistic_example();

class LogisticPosterior : public Target {
 public:
  LogisticPosterior(LogisticData data, double prior_sd, const Window& support, const Window& window);

  double log_density(std::span<const double> theta) const override;
  void score(std::span<const double> theta, std::span<double> out) const override;
  // Inverse CDF over the cells of a grid, uniform inside the cell.
  void sample(Stream& stream, std::span<double> out) const override;
  Window window() const override { return window_; }
  const LogisticData& data() const { return data_; }

 private:
  LogisticData data_;
  double prior_sd_;
  Window support_;  // the grid's window; the mass outside must be negligible
  Window window_;
  std::vector<double> cumulative_;  // of the cells' probabilities, row by row; the last is 1
};

std::unique_ptr<Target> make_logistic();

}  // namespace pits
