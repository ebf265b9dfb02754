#include "pits/evaluate/evaluation.h"

#include <algorithm>
#include <cmath>

#include "pits/core/error.h"
#include "pits/evaluate/intervals/confidence_sequence.h"
#include "pits/evaluate/policy_terms.h"
#include "pits/evaluate/reward_model.h"
#include "pits/evaluate/trust.h"

namespace pits {
namespace {

constexpr std::size_t curve_points = 100;

// Everything that estimates of one policy are computed from.
struct Column {
  std::vector<RoundRatios> ratios{};  // one per estimator
  const PolicyTerms* terms = nullptr;
  double largest_possible = 1.0;
};

std::vector<EstimatorKind> estimators_for(const LoggedData& data, bool model) {
  std::vector<EstimatorKind> kinds;
  const bool uniform = data.uniform();
  for (const EstimatorKind kind : all_estimators) {
    if (needs_model(kind) && !model) continue;
    if (kind == EstimatorKind::replay && !uniform) continue;
    kinds.push_back(kind);
  }
  return kinds;
}

// Length of the interval that holds w·r for 0 ≤ w ≤ b.
double span_of(double b, const RewardRange& range) {
  return b * (std::max(range.high, 0.0) - std::min(range.low, 0.0));
}

Estimate estimate_of(const RoundRatios& ratios, double level) {
  const double value = ratios.value();
  const double error = standard_error(ratios.influence(), self_normalised(ratios.kind));
  return {.kind = ratios.kind,
          .value = value,
          .error = error,
          .shrinkage = ratios.shrinkage,
          .asymptotic = asymptotic(value, error, level)};
}

Estimate difference_of(const RoundRatios& a, const RoundRatios& b, double level) {
  std::vector<double> influence = a.influence();
  const std::vector<double> other = b.influence();
  for (std::size_t i = 0; i < influence.size(); ++i) influence[i] -= other[i];
  const double value = a.value() - b.value();
  const double error = standard_error(influence, self_normalised(a.kind));
  return {.kind = a.kind, .value = value, .error = error, .asymptotic = asymptotic(value, error, level)};
}

// One evaluation, step by step.
class Judge {
 public:
  Judge(const LoggedData& data, const EvaluationConfig& config, const std::function<void(std::size_t)>& done)
      : data_(data), config_(config), done_(done), with_model_(config.model != "none") {}

  Evaluation run() {
    check();
    result_.rounds = data_.rounds();
    if (with_model_) fit_model();
    judge_logged();
    std::vector<std::unique_ptr<JudgedPolicy>> policies;
    for (const std::string& spec : config_.policies) {
      policies.push_back(make_policy(spec, data_, {.draws = config_.draws, .seed = config_.seed}));
    }
    std::vector<PolicyOnLog> on_log = policies_on_log(data_, policies, result_.model, done_);
    for (std::size_t j = 0; j < policies.size(); ++j) {
      on_log[j].terms.model_logged = result_.model_logged;
      result_.policies.push_back({.policy = config_.policies[j],
                                  .remark = policies[j]->remark(),
                                  .weights = on_log[j].weights,
                                  .truth = on_log[j].truth,
                                  .action_shares = std::move(on_log[j].action_shares)});
      result_.terms.push_back(std::move(on_log[j].terms));
    }
    for (std::size_t j = 0; j < policies.size(); ++j) add_column(j);
    for (std::size_t j = 0; j < policies.size(); ++j) estimate(j);
    if (config_.bootstrap > 0) resample();
    for (std::size_t j = 0; j < policies.size(); ++j) {
      result_.policies[j].warnings = reasons_for_doubt(data_, result_.policies[j]);
    }
    return std::move(result_);
  }

 private:
  void check() const {
    if (!(config_.level > 0.0 && config_.level < 1.0)) {
      throw bad_input("level must be between 0 and 1, as 0.95 is, not {}", config_.level);
    }
    if (config_.reward_range) {
      const auto [low, high] = *config_.reward_range;
      if (!(low < high)) throw bad_input("the reward range must go up, and {} to {} does not", low, high);
      for (std::size_t i = 0; i < data_.rounds(); ++i) {
        const double r = data_.rewards[i];
        if (r >= low && r <= high) continue;
        throw bad_input("round {}: the reward {} is outside of the range {} to {}", i + 1, r, low, high);
      }
    }
    const bool known = config_.against == "logged" || std::ranges::count(config_.policies, config_.against) > 0;
    if (!known) throw bad_input("differences are to 'logged' or to one of the policies, not to '{}'", config_.against);
    for (const std::string& policy : config_.policies) {
      if (std::ranges::count(config_.policies, policy) > 1) throw bad_input("policy '{}' is given twice", policy);
    }
    if (config_.bootstrap < 0) throw bad_input("bootstrap must be at least 0, not {}", config_.bootstrap);
    if (config_.draws < 1) throw bad_input("draws must be at least 1, not {}", config_.draws);
  }

  void fit_model() {
    result_.model = cross_fitted(data_, {.model = config_.model, .folds = config_.folds, .seed = config_.seed}, done_);
    result_.model_logged.resize(data_.rounds());
    for (std::size_t i = 0; i < data_.rounds(); ++i) {
      result_.model_logged[i] = result_.model[i * data_.K() + data_.actions[i]];
    }
  }

  // What was logged, as a policy: all weights are 1, and every estimator is the mean reward.
  void judge_logged() {
    logged_terms_.weight.assign(data_.rounds(), 1.0);
    logged_terms_.probability.assign(data_.rounds(), 1.0);
    logged_terms_.reward = data_.rewards;
    kinds_ = estimators_for(data_, with_model_);
    for (const EstimatorKind kind : kinds_) {
      RoundRatios mean = ratios_of(EstimatorKind::ips, logged_terms_);
      mean.kind = kind;
      logged_.ratios.push_back(std::move(mean));
    }
    logged_.terms = &logged_terms_;
    result_.logged = estimate_of(logged_.ratios.front(), config_.level);
    if (config_.reward_range) result_.logged_sequence = sequence_of(logged_terms_);
    if (data_.true_means.empty() || !data_.knows_all_propensities()) return;
    double truth = 0.0;
    for (std::size_t i = 0; i < data_.true_means.size(); ++i) {
      if (data_.all_propensities[i] > 0.0F) truth += data_.all_propensities[i] * data_.true_means[i];
    }
    result_.logged_truth = truth / static_cast<double>(data_.rounds());
  }

  Interval sequence_of(const PolicyTerms& terms) const {
    ValueSequence sequence(*config_.reward_range);
    for (std::size_t i = 0; i < terms.rounds(); ++i) sequence.add(terms.weight[i], terms.reward[i]);
    return sequence.interval(config_.level);
  }

  void add_column(std::size_t j) {
    Column column{.terms = &result_.terms[j], .largest_possible = result_.policies[j].weights.largest_possible};
    for (const EstimatorKind kind : kinds_) {
      column.ratios.push_back(ratios_of(kind, result_.terms[j], config_.shrinkage));
    }
    columns_.push_back(std::move(column));
  }

  const Column& baseline() const {
    if (config_.against == "logged") return logged_;
    return columns_[static_cast<std::size_t>(std::ranges::find(config_.policies, config_.against) -
                                             config_.policies.begin())];
  }

  void estimate(std::size_t j) {
    JudgedResult& out = result_.policies[j];
    const Column& column = columns_[j];
    for (std::size_t e = 0; e < kinds_.size(); ++e) {
      out.estimates.push_back(estimate_of(column.ratios[e], config_.level));
      out.differences.push_back(difference_of(column.ratios[e], baseline().ratios[e], config_.level));
    }
    add_curve(column, out);
    if (config_.reward_range) bounded(column, out);
  }

  // What needs the range of the rewards.
  void bounded(const Column& column, JudgedResult& out) {
    const RewardRange range = *config_.reward_range;
    const PolicyTerms& other = *baseline().terms;
    DifferenceSequence difference(range);
    std::vector<double> apart(data_.rounds());
    for (std::size_t i = 0; i < data_.rounds(); ++i) {
      difference.add(column.terms->weight[i], other.weight[i], data_.rewards[i]);
      apart[i] = (column.terms->weight[i] - other.weight[i]) * data_.rewards[i];
    }
    out.sequence = sequence_of(*column.terms);
    out.sequence_difference = difference.interval(config_.level);
    const double most = std::max(std::abs(range.low), std::abs(range.high));
    const double b = column.largest_possible;
    out.estimates.front().bernstein = bernstein(column.ratios.front().numerator, span_of(b, range), config_.level);
    out.differences.front().bernstein = bernstein(apart, (b + baseline().largest_possible) * most, config_.level);
  }

  void add_curve(const Column& column, JudgedResult& out) const {
    const std::size_t n = data_.rounds(), points = std::min(n, curve_points);
    const auto dr = std::ranges::find(kinds_, EstimatorKind::dr);
    std::optional<ValueSequence> sequence;
    if (config_.reward_range) sequence.emplace(*config_.reward_range);
    double weighted = 0.0, weights = 0.0, robust = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      weighted += column.ratios.front().numerator[i];
      weights += column.terms->weight[i];
      if (dr != kinds_.end()) robust += column.ratios[static_cast<std::size_t>(dr - kinds_.begin())].numerator[i];
      if (sequence) sequence->add(column.terms->weight[i], data_.rewards[i]);
      const std::size_t t = i + 1;
      if (t * points / n == (t - 1) * points / n) continue;
      const double count = static_cast<double>(t);
      CurvePoint point{.rounds = t, .ips = weighted / count, .snips = weights > 0.0 ? weighted / weights : 0.0};
      if (dr != kinds_.end()) point.dr = robust / count;
      if (sequence) point.sequence = sequence->interval(config_.level);
      out.curve.push_back(point);
    }
  }

  // All policies on the same resampled rounds.
  void resample() {
    std::vector<RoundRatios> lists;
    for (const RoundRatios& one : baseline().ratios) lists.push_back(one);
    lists.push_back(logged_.ratios.front());
    for (const Column& column : columns_) lists.insert(lists.end(), column.ratios.begin(), column.ratios.end());
    const auto values = resampled(lists, config_.bootstrap, config_.seed);
    const std::size_t E = kinds_.size();
    result_.logged.bootstrap = percentiles(values[E], config_.level);
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      for (std::size_t e = 0; e < E; ++e) {
        const std::vector<double>& own = values[E + 1 + j * E + e];
        result_.policies[j].estimates[e].bootstrap = percentiles(own, config_.level);
        std::vector<double> apart(own.size());
        for (std::size_t b = 0; b < own.size(); ++b) apart[b] = own[b] - values[e][b];
        result_.policies[j].differences[e].bootstrap = percentiles(std::move(apart), config_.level);
      }
    }
  }

  const LoggedData& data_;
  const EvaluationConfig& config_;
  const std::function<void(std::size_t)>& done_;
  bool with_model_;
  std::vector<EstimatorKind> kinds_;
  PolicyTerms logged_terms_;
  Column logged_;
  std::vector<Column> columns_;
  Evaluation result_;
};

}  // namespace

const Estimate* JudgedResult::find(EstimatorKind kind) const {
  const auto found = std::ranges::find(estimates, kind, &Estimate::kind);
  return found == estimates.end() ? nullptr : &*found;
}

Evaluation evaluate(const LoggedData& data, const EvaluationConfig& config,
                    const std::function<void(std::size_t)>& done) {
  return Judge(data, config, done).run();
}

std::size_t evaluation_work(const LoggedData& data, const EvaluationConfig& config) {
  return data.rounds() * (config.policies.size() + (config.model == "none" ? 0 : 1));
}

}  // namespace pits
