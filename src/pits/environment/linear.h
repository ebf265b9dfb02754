// Linear and sparse linear rewards: r_a = x·β_a + ε, x ~ N(μ, Σ), ε ~ N(0, σ_a²), as in the paper's supplement.
#pragma once

#include "pits/environment/linear_rewards.h"

namespace pits {

struct LinearConfig {
  int dimension = 10;              // d
  int actions = 8;                 // K
  Support support = Support::all;  // of each β_a
  RewardNoise noise{};
  std::vector<double> mean = {0.0};        // μ: one number for all coordinates, or d
  std::vector<double> covariance = {1.0};  // Σ: one variance, d of them, or a d×d matrix row by row
};
Fields fields(LinearConfig& config);
LinearConfig linear_preset(std::string_view name);         // d10, d20
LinearConfig sparse_linear_preset(std::string_view name);  // d10, d20; K = 7

class Linear : public Environment {
 public:
  Linear(const LinearConfig& config, const EnvironmentSetup& setup);

  std::size_t context_size() const override { return static_cast<std::size_t>(config_.dimension); }
  std::size_t actions() const override { return static_cast<std::size_t>(config_.actions); }
  void draw(std::size_t t, Round& round) const override;

  const Eigen::MatrixXd& coefficients() const { return beta_; }  // (d,K), columns of norm 1
  double noise_sd(std::size_t action) const { return config_.noise.sd(action); }

 private:
  LinearConfig config_;
  EnvironmentSetup setup_;
  Eigen::VectorXd mean_;
  Eigen::VectorXd sd_;    // where Σ is diagonal: its roots; empty otherwise
  Eigen::MatrixXd root_;  // else root·rootᵀ = Σ
  Eigen::MatrixXd beta_;
};

}  // namespace pits
