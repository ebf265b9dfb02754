// How far an agent's posterior is from the exact one on a linear problem. The paper argues with this distance but does
// not measure it.
//
// Exact means: given the rewards that the agent itself has learned, r = x·β_a + N(0, σ_a²) with the problem's own σ_a
// and the prior β_a ~ N(0, I/d), whose draws have the norm of the truth, 1. Compared are the marginals of the mean
// rewards x·β_a at contexts that no round shows: the 2-Wasserstein distance between 20 draws of the agent and the exact
// normal.
//
// A cell has the lists posterior_w2 and posterior_floor, a number for each of probe_rounds.
#pragma once

#include <Eigen/Core>

#include "pits/environment/linear.h"
#include "pits/experiment/diagnostics/catalogue.h"

namespace pits {

// W2 between the empirical distribution of `draws` and N(mean, sd²), in closed form: the optimal plan sends the i-th
// smallest draw to the i-th of n slices of equal mass.
double w2_to_normal(std::vector<double> draws, double mean, double sd);

// The rounds, counted from 1, after which the distance is measured: 20 of them, evenly spaced in log t from 20 on.
std::vector<std::size_t> probe_rounds(std::size_t rounds);

class PosteriorDistance : public Observer {
 public:
  static constexpr std::uint32_t draws = 20;
  static constexpr std::size_t contexts = 32;
  // E W2² between 20 independent draws from N(0,1) and N(0,1) itself; a test has the integral.
  static constexpr double unit_floor = 0.1368499390191073;

  struct Reading {
    double w2;     // root mean square over contexts and actions
    double floor;  // what 20 draws from the exact posterior would score
  };
  struct Normal {
    double mean, sd;
  };

  // Contexts are those of the rounds after `steps`.
  PosteriorDistance(const Linear& problem, const Agent& agent, std::size_t steps, std::size_t rounds);

  void after_learning(std::span<const Feedback> events) override;
  nlohmann::ordered_json finish() override;

  void observe(const Feedback& event);
  Reading measure(const Agent& agent) const;          // an agent without a posterior is an Error
  Normal exact(std::size_t context, Action a) const;  // marginal of x·β_a

 private:
  const Linear& problem_;
  const Agent& agent_;
  std::vector<std::size_t> planned_;
  std::size_t round_ = 0;
  std::vector<double> w2_, floor_;  // at the first of planned_
  std::vector<Eigen::VectorXd> tests_;
  std::vector<Eigen::MatrixXd> precision_;  // (K) of β_a
  std::vector<Eigen::VectorXd> moment_;     // (K) Xᵀr/σ²
};

Diagnostic posterior_diagnostic();

}  // namespace pits
