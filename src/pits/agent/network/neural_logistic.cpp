#include "pits/agent/network/neural_logistic.h"

#include <algorithm>
#include <cmath>

namespace pits {
Fields fields(NeuralLogisticConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .add("regression_lambda", c.regression.lambda, "prior precision of the regressions", above(0))
      .add("diagonal", c.regression.diagonal, "keep the diagonal of their precision only");
}

Eigen::VectorXd units_with_intercept(const RewardModel& model, std::span<const float> theta, ContextView x) {
  thread_local Network::Workspace workspace;
  const std::span<const float> units = model.network().hidden(theta, x, workspace);
  Eigen::VectorXd row = Eigen::VectorXd::Ones(static_cast<Eigen::Index>(units.size()) + 1);
  std::ranges::copy(units, row.begin());
  return row;
}

NeuralLogistic::NeuralLogistic(const NeuralLogisticConfig& config, const AgentSetup& setup)
    : Cloned(checked(config).network, setup),
      regression_(config.regression),
      regressions_(setup.actions,
                   BayesLogistic(regression_, static_cast<Eigen::Index>(model().network().features()) + 1)) {
  if (!model().bernoulli()) throw bad_input("neural-logistic needs model=mlp-logistic or model=logistic");
}

// The largest z is the largest probability of a reward; a draw of the weights enters by z alone.
void NeuralLogistic::values(ContextView x, Stream& stream, std::span<double> out) const {
  const Eigen::VectorXd units = units_with_intercept(model(), theta(), x);
  for (std::size_t a = 0; a < out.size(); ++a) {
    const double sd = std::sqrt(regressions_[a].variance(units));
    out[a] = static_cast<float>(regressions_[a].mean().dot(units) + sd * stream.normal());
  }
}

bool NeuralLogistic::value_laws(ContextView x, std::span<ValueLaw> out) const {
  const Eigen::VectorXd units = units_with_intercept(model(), theta(), x);
  for (std::size_t a = 0; a < out.size(); ++a) {
    out[a] = {.mean = regressions_[a].mean().dot(units), .scale = std::sqrt(regressions_[a].variance(units))};
  }
  return true;
}

void NeuralLogistic::on_event(const Feedback& event) {
  if (discount() < 1.0) {
    for (BayesLogistic& regression : regressions_) regression.discount(discount());
  }
  regressions_[event.action].observe(units_with_intercept(model(), theta(), event.x), event.reward);
}

void NeuralLogistic::on_new_actions(std::size_t n, std::span<const std::size_t>) {
  const auto width = static_cast<Eigen::Index>(model().network().features()) + 1;
  regressions_.insert(regressions_.end(), n, BayesLogistic(regression_, width));
}

void NeuralLogistic::on_training() {
  const History& history = posterior().history();
  const auto width = static_cast<Eigen::Index>(model().network().features()) + 1;
  std::vector<std::vector<std::size_t>> slots(actions());
  for (std::size_t i = 0; i < history.size(); ++i) slots[history[i].action].push_back(i);
  for (Action a = 0; a < actions(); ++a) {
    Eigen::MatrixXd x(width, static_cast<Eigen::Index>(slots[a].size()));
    Eigen::VectorXd rewards(x.cols()), weights(x.cols());
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
      const std::size_t slot = slots[a][static_cast<std::size_t>(i)];
      const Observation o = history[slot];
      weights[i] = history.weight(slot);
      x.col(i) = units_with_intercept(model(), theta(), o.context);
      rewards[i] = o.reward;
    }
    regressions_[a] = BayesLogistic(regression_, x, rewards, weights);
  }
}

}  // namespace pits
