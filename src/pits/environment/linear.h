// Linear and sparse linear rewards: r_a = x·β_a + ε, x ~ N(μ, Σ), ε ~ N(0, σ_a²), as in the paper's supplement.
#pragma once

#include <Eigen/Core>

#include "pits/core/fields.h"
#include "pits/environment/environment.h"

namespace pits {

// What 0.01·a is for action a = 1..K: the noise's standard deviation (the authors' code) or its variance (their text).
enum class NoiseUnit { sd, variance };
enum class NoiseGrowth { action, none };  // level·a for action a, or the same level for all
template <>
struct EnumNames<NoiseUnit> {
  static const std::vector<std::string>& names();
};
template <>
struct EnumNames<NoiseGrowth> {
  static const std::vector<std::string>& names();
};

struct LinearConfig {
  int dimension = 10;   // d
  int actions = 8;      // K
  bool sparse = false;  // only ⌊d/3⌋ random coordinates of each β_a are non-zero
  NoiseUnit noise = NoiseUnit::sd;
  double noise_level = 0.01;
  NoiseGrowth noise_growth = NoiseGrowth::action;
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
  double noise_sd(std::size_t action) const;

 private:
  LinearConfig config_;
  EnvironmentSetup setup_;
  Eigen::VectorXd mean_;
  Eigen::VectorXd sd_;    // where Σ is diagonal: its roots; empty otherwise
  Eigen::MatrixXd root_;  // else root·rootᵀ = Σ
  Eigen::MatrixXd beta_;
};

}  // namespace pits
