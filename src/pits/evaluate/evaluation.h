// What policies would have earned on a log: all estimators, their intervals, and how far to trust them.
//
//   const pits::LoggedData data = pits::read_log("shop.csv");
//   const pits::Evaluation result = pits::evaluate(data, {.policies = {"uniform", "fixed:b"}, .reward_range = {{0,
//   1}}});
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pits/evaluate/estimators/estimator.h"
#include "pits/evaluate/intervals/interval.h"
#include "pits/evaluate/logged_data.h"

namespace pits {

struct EvaluationConfig {
  std::vector<std::string> policies{};        // specs: see judged_policy.h
  std::optional<RewardRange> reward_range{};  // without it there is no confidence sequence and no Bernstein interval
  double level = 0.95;
  std::string against = "logged";  // what differences are to: what was logged, or one of the policies
  std::string model = "linear";    // of the reward, or none: see reward_model.h
  int folds = 5;
  int bootstrap = 0;                  // resamples; 0: no bootstrap intervals
  int draws = 50;                     // simulated decisions where probabilities have no closed form
  std::optional<double> shrinkage{};  // λ of dros; none: by its rule
  std::uint64_t seed = 0;
};

struct Estimate {
  EstimatorKind kind;
  double value, error;  // and its standard error
  double shrinkage = 0.0;
  Interval asymptotic{};
  std::optional<Interval> bootstrap{};
  std::optional<Interval> bernstein{};  // of ips
};

// Of the weights of one policy.
struct WeightDiagnostics {
  double effective_rounds = 0.0;        // (Σw)² / Σw²
  double largest = 0.0, mean = 0.0;     // the mean should be 1
  double mean_error = 0.0;              // standard error of the mean
  double largest_possible = 0.0;        // over all actions where their propensities are known, else the largest seen
  std::optional<double> unsupported{};  // share of the policy's probability on actions of propensity 0; none: unknown
};

// The estimates after a part of the log.
struct CurvePoint {
  std::size_t rounds;
  double ips, snips;
  std::optional<double> dr{};
  std::optional<Interval> sequence{};
};

struct JudgedResult {
  std::string policy, remark{};
  WeightDiagnostics weights{};
  std::vector<Estimate> estimates{};
  std::vector<Estimate> differences{};                        // to `against`, by the same estimators
  std::optional<Interval> sequence{}, sequence_difference{};  // confidence sequences: the default interval
  std::optional<double> truth{};                              // where the log is of a simulation that knows it
  std::vector<double> action_shares{};                        // (K) mean probability of every action
  std::vector<CurvePoint> curve{};
  std::vector<std::string> warnings{};  // plain sentences; empty: nothing speaks against it

  const Estimate* find(EstimatorKind kind) const;
};

struct Evaluation {
  std::size_t rounds = 0;
  Estimate logged{};  // the mean reward of the log
  std::optional<Interval> logged_sequence{};
  std::optional<double> logged_truth{};
  std::vector<JudgedResult> policies{};
  std::vector<double> model{};         // (n,K) q̂, or none
  std::vector<PolicyTerms> terms{};    // of each policy; views into the data and into `model_logged`
  std::vector<double> model_logged{};  // (n)
};

// `done` is called from any thread with the rounds done since the last call, of evaluation_work() in all; it may throw.
Evaluation evaluate(
    const LoggedData& data, const EvaluationConfig& config,
    const std::function<void(std::size_t)>& done = [](std::size_t) {});
std::size_t evaluation_work(const LoggedData& data, const EvaluationConfig& config);

}  // namespace pits
