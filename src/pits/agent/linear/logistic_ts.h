// Thompson sampling with logistic regressions, one with intercept per action, their posteriors Gaussian by Laplace's
// approximation (Chapelle & Li 2011, Algorithm 3 with batches of one). Rewards in 0..1.
#pragma once

#include <cmath>

#include "pits/agent/agent.h"
#include "pits/posterior/action_posteriors.h"
#include "pits/posterior/bayes_linear.h"
#include "pits/posterior/bayes_logistic.h"

namespace pits {

struct LogisticTsConfig {
  BayesLogisticConfig posterior{};
  Exploration exploration{};
  Memory memory{};
};
inline Fields fields(LogisticTsConfig& c) {
  return Fields{}.merge(fields(c.posterior)).merge(fields(c.exploration)).merge(fields(c.memory));
}

class LogisticTs : public Cloned<LogisticTs> {
 public:
  LogisticTs(const LogisticTsConfig& config, const AgentSetup& setup)
      : Cloned(setup, checked(config).exploration),
        posteriors_(config.memory, setup.context_size, setup.actions,
                    BayesLogistic(config.posterior, static_cast<Eigen::Index>(setup.context_size) + 1)) {}

  const BayesLogistic& posterior(Action a) const { return posteriors_[a]; }

 private:
  // The largest x·w is the largest probability of a reward, and a draw of w enters by x·w alone.
  void values(ContextView context, Stream& stream, std::span<double> out) const override {
    const Eigen::VectorXd x = with_intercept(context);
    for (Action a = 0; a < out.size(); ++a) {
      out[a] = posteriors_[a].mean().dot(x) + std::sqrt(posteriors_[a].variance(x)) * stream.normal();
    }
  }

  bool value_laws(ContextView context, std::span<ValueLaw> out) const override {
    const Eigen::VectorXd x = with_intercept(context);
    for (Action a = 0; a < out.size(); ++a) {
      out[a] = {.mean = posteriors_[a].mean().dot(x), .scale = std::sqrt(posteriors_[a].variance(x))};
    }
    return true;
  }

  void observe(const Feedback& event) override {
    if (event.reward < 0.0F || event.reward > 1.0F) {
      throw bad_input("logistic-ts needs rewards in 0..1, not {}; try lin-ts", event.reward);
    }
    posteriors_.learn(event.observation(), [](BayesLogistic& posterior, ContextView x, double reward) {
      posterior.observe(with_intercept(x), reward);
    });
  }

  void state(Archive& archive) override { archive.version("LogisticTs", 1)(posteriors_); }
  void grow(std::size_t n) override { posteriors_.add_actions(n); }

  ActionPosteriors<BayesLogistic> posteriors_;
};

}  // namespace pits
