#include "pits/evaluate/reward_model.h"

#include <Eigen/Core>
#include <cmath>

#include "pits/agent/catalogue.h"
#include "pits/core/parallel.h"
#include "pits/posterior/bayes_linear.h"

namespace pits {
namespace {

constexpr std::size_t rounds_between_calls = 1024;

// Mean 0 and standard deviation 1 over the log, column by column; a constant column becomes 0.
class Units {
 public:
  Units(const std::vector<float>& rows, std::size_t columns) : mean_(columns), scale_(columns) {
    const std::size_t n = columns == 0 ? 0 : rows.size() / columns;
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0.0, squares = 0.0;
      for (std::size_t i = 0; i < n; ++i) sum += rows[i * columns + j];
      mean_[j] = sum / static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) squares += std::pow(rows[i * columns + j] - mean_[j], 2);
      const double deviation = std::sqrt(squares / static_cast<double>(n));
      scale_[j] = deviation > 1e-12 * (1.0 + std::abs(mean_[j])) ? 1.0 / deviation : 0.0;
    }
  }
  std::size_t columns() const { return mean_.size(); }
  void write(std::span<const float> row, double* out) const {
    for (std::size_t j = 0; j < columns(); ++j) out[j] = (row[j] - mean_[j]) * scale_[j];
  }

 private:
  std::vector<double> mean_, scale_;
};

class LinearModel {
 public:
  explicit LinearModel(const LoggedData& data)
      : data_(data),
        contexts_(data.contexts, data.context_size),
        features_(data.features, data.action_features),
        size_(static_cast<Eigen::Index>(contexts_.columns() + features_.columns() + 1)) {}

  // Learns the rounds outside of the fold and predicts those inside.
  void predict(std::size_t fold, std::size_t folds, std::span<double> q,
               const std::function<void(std::size_t)>& done) const {
    const std::size_t models = shared() ? 1 : data_.K();
    double mean = 0.0;
    const std::vector<RegressionSums> sums = sums_without(fold, folds, models, mean);
    std::vector<Eigen::VectorXd> beta;
    for (const RegressionSums& one : sums) beta.push_back(BayesLinear({.lambda = 1.0}, one).mean());
    Eigen::VectorXd x(size_);
    for (std::size_t i = fold; i < data_.rounds(); i += folds) {
      design(i, 0, x);
      for (Action a = 0; a < data_.K(); ++a) {
        if (shared()) design(i, a, x);
        q[i * data_.K() + a] = mean + x.dot(beta[shared() ? 0 : a]);
      }
      if (i / folds % rounds_between_calls == rounds_between_calls - 1) done(rounds_between_calls);
    }
  }

 private:
  bool shared() const { return features_.columns() > 0; }

  // (context, features of the action, 1)
  void design(std::size_t i, Action a, Eigen::VectorXd& x) const {
    contexts_.write(data_.x(i), x.data());
    const std::size_t f = features_.columns();
    if (f > 0) {
      features_.write({data_.features.data() + (i * data_.K() + a) * f, f}, x.data() + contexts_.columns());
    }
    x[size_ - 1] = 1.0;
  }

  std::vector<RegressionSums> sums_without(std::size_t fold, std::size_t folds, std::size_t models,
                                           double& mean) const {
    double total = 0.0, count = 0.0;
    for (std::size_t i = 0; i < data_.rounds(); ++i) {
      if (i % folds == fold) continue;
      total += data_.rewards[i];
      count += 1.0;
    }
    mean = count > 0.0 ? total / count : 0.0;
    std::vector<RegressionSums> sums(models, RegressionSums(size_));
    Eigen::VectorXd x(size_);
    for (std::size_t i = 0; i < data_.rounds(); ++i) {
      if (i % folds == fold) continue;
      const Action a = data_.actions[i];
      design(i, a, x);
      RegressionSums& one = sums[shared() ? 0 : a];
      const double y = data_.rewards[i] - mean;
      one.xx.selfadjointView<Eigen::Lower>().rankUpdate(x);
      one.xy += y * x;
      one.yy += y * y;
      one.n += 1.0;
    }
    return sums;
  }

  const LoggedData& data_;
  Units contexts_, features_;
  Eigen::Index size_;
};

// Where the agent knows no mean, that of draws from its posterior.
void predict_round(const Agent& agent, const CrossFit& config, ContextView x, std::span<double> out) {
  if (agent.mean_rewards(x, out)) return;
  std::vector<double> drawn(out.size());
  for (int k = 0; k < config.draws; ++k) {
    if (!agent.draw_rewards(x, static_cast<std::uint32_t>(k), drawn)) {
      throw bad_input("'{}' holds no posterior of the rewards, so it is no reward model; lin-ts and pi-ts are",
                      config.model);
    }
    for (Action a = 0; a < out.size(); ++a) out[a] += drawn[a] / config.draws;
  }
}

void predict_by_agent(const LoggedData& data, const CrossFit& config, std::size_t fold, std::span<double> q,
                      const std::function<void(std::size_t)>& done) {
  const auto folds = static_cast<std::size_t>(config.folds);
  const auto agent = find_recipe(agent_catalogue(), "reward model", parse_spec(config.model))
                         ->make({.context_size = data.context_size,
                                 .actions = data.K(),
                                 .seed = config.seed,
                                 .realization = static_cast<std::uint32_t>(fold)});
  for (std::size_t i = 0; i < data.rounds(); ++i) {
    if (i % folds == fold) continue;
    const Action a = data.actions[i];
    const ActionSet set = data.action_set(i);
    const Feedback event{.x = data.x(i),
                         .action = a,
                         .reward = static_cast<float>(data.rewards[i]),
                         .id = i,
                         .z = set.features.size() > 0 ? set.features.row(a) : std::span<const float>()};
    agent->learn({&event, 1});
  }
  for (std::size_t i = fold; i < data.rounds(); i += folds) {
    predict_round(*agent, config, data.x(i), q.subspan(i * data.K(), data.K()));
    done(1);
  }
}

}  // namespace

std::vector<double> cross_fitted(const LoggedData& data, const CrossFit& config,
                                 const std::function<void(std::size_t)>& done) {
  if (config.folds < 2) throw bad_input("folds must be at least 2, not {}", config.folds);
  if (data.rounds() < 2 * static_cast<std::size_t>(config.folds)) {
    throw bad_input("a reward model in {} folds needs at least {} rounds, and the log has {}; leave the model out",
                    config.folds, 2 * config.folds, data.rounds());
  }
  std::vector<double> q(data.rounds() * data.K());
  if (config.model == "linear") {
    const LinearModel model(data);
    parallel_for(static_cast<std::size_t>(config.folds),
                 [&](std::size_t fold) { model.predict(fold, static_cast<std::size_t>(config.folds), q, done); });
  } else {
    parallel_for(static_cast<std::size_t>(config.folds),
                 [&](std::size_t fold) { predict_by_agent(data, config, fold, q, done); });
  }
  return q;
}

}  // namespace pits
