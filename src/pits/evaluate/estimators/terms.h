// What an estimator sees of a round, and what it makes of it.
//
// Every estimate is Σ numerator / Σ denominator over the rounds, so that standard errors, bootstrap and differences
// between policies are computed once for all of them (intervals/).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pits {

// A round i under the policy π that is judged; p is the logger's, q̂ a model of the reward that has not seen the round.
struct RoundTerms {
  double reward;        // r
  double probability;   // π(a|x) of the logged action
  double weight;        // w = π(a|x) / p(a|x)
  double model_logged;  // q̂(x,a) of the logged action
  double model_value;   // Σ_a π(a|x) q̂(x,a)
};

struct Ratio {
  double numerator;
  double denominator;
};

// The rounds of a log under one policy; columns of n numbers.
struct PolicyTerms {
  std::vector<double> probability{}, weight{}, model_value{};
  std::span<const double> reward{}, model_logged{};  // the same for all policies; model_logged may be empty: no model

  std::size_t rounds() const { return weight.size(); }
  bool has_model() const { return !model_logged.empty(); }
  RoundTerms operator[](std::size_t i) const {
    return {reward[i], probability[i], weight[i], has_model() ? model_logged[i] : 0.0,
            has_model() ? model_value[i] : 0.0};
  }
};

}  // namespace pits
