// A model of the reward, q̂(x,a), for DM and DR. It is cross-fitted: the rounds are dealt into folds by turns, and a
// round's prediction is made by a model that learned from the other folds only.
//
//   linear   ridge regression per action on standardised contexts, centred at the mean reward: precision 1 in units of
//            the noise. Where the log has features of actions, they are further columns, and all actions share one.
//   SPEC     an agent of the catalogue that learns the other folds in order; q̂ is the mean of what it believes: of a
//            mixture (pi-ts, pi-ts:fast) the weighted mean of its models, of others that of `draws` posterior draws.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pits/evaluate/logged_data.h"

namespace pits {

struct CrossFit {
  std::string model = "linear";
  int folds = 5;
  int draws = 20;  // posterior draws, where an agent has no mean of its own
  std::uint64_t seed = 0;
};

// q̂ of every action in every round, (n,K). `done` is called with rounds predicted since the last call.
std::vector<double> cross_fitted(
    const LoggedData& data, const CrossFit& config, const std::function<void(std::size_t)>& done = [](std::size_t) {});

}  // namespace pits
