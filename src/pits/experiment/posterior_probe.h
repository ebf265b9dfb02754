// How far an agent's posterior is from the exact one on a linear problem: what the paper argues with and never shows.
//
// Exact means: given the rewards that the agent itself has learned, r = x·β_a + N(0, σ_a²) with the problem's own σ_a
// and the prior β_a ~ N(0, I/d), whose draws have the norm of the truth, 1. Compared are the marginals of the mean
// rewards x·β_a at contexts that no round shows: the 2-Wasserstein distance between 20 draws of the agent and the exact
// normal.
#pragma once

#include <Eigen/Core>

#include "pits/environment/linear.h"
#include "pits/experiment/loop.h"

namespace pits {

// W2 between the empirical distribution of `draws` and N(mean, sd²), in closed form: the optimal plan sends the i-th
// smallest draw to the i-th of n slices of equal mass.
double w2_to_normal(std::vector<double> draws, double mean, double sd);
// E W2² between n independent draws from N(0,1) and N(0,1) itself.
double w2_square_of_draws(std::size_t n);

class PosteriorProbe : public Probe {
 public:
  static constexpr std::uint32_t draws = 20;
  static constexpr std::size_t contexts = 32;

  // Contexts are those of the rounds after `steps`.
  PosteriorProbe(const Linear& problem, std::size_t steps);

  void observe(const Feedback& event) override;
  // Root mean square of W2 over contexts and actions, and what 20 draws from the exact posterior would score. An agent
  // without a posterior is an Error.
  Reading measure(const Agent& agent) override;

  struct Normal {
    double mean, sd;
  };
  Normal exact(std::size_t context, Action a) const;  // marginal of x·β_a

 private:
  const Linear& problem_;
  std::vector<Eigen::VectorXd> tests_;
  std::vector<Eigen::MatrixXd> precision_;  // (K) of β_a
  std::vector<Eigen::VectorXd> moment_;     // (K) Xᵀr/σ²
  double unit_floor_ = w2_square_of_draws(draws);
};

}  // namespace pits
