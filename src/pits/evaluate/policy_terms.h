// From policies and a log to the terms of the estimators.
#pragma once

#include <functional>

#include "pits/evaluate/evaluation.h"
#include "pits/evaluate/judged_policy.h"

namespace pits {

// One policy on every round.
struct PolicyOnLog {
  PolicyTerms terms;
  WeightDiagnostics weights;
  std::vector<double> action_shares;  // (K)
  std::optional<double> truth;
};

// Policies that do not learn are taken round by round on all cores; those that learn walk through the log, one per
// core. `model` is q̂ (n,K) or empty.
std::vector<PolicyOnLog> policies_on_log(const LoggedData& data,
                                         std::span<const std::unique_ptr<JudgedPolicy>> policies,
                                         std::span<const double> model, const std::function<void(std::size_t)>& done);

}  // namespace pits
