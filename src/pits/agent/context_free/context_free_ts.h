// Thompson sampling without contexts, the paper's Algorithm 2 where the posterior has a closed form.
#pragma once

#include "pits/agent/agent.h"
#include "pits/posterior/action_posteriors.h"
#include "pits/posterior/bayes_linear.h"

namespace pits {

struct BernoulliTsConfig {
  double alpha = 1.0;  // prior Beta(alpha, beta) of an action's success probability
  double beta = 1.0;
  Memory memory{};
};
inline Fields fields(BernoulliTsConfig& c) {
  return Fields{}
      .add("alpha", c.alpha, "prior successes of each action", above(0))
      .add("beta", c.beta, "prior failures of each action", above(0))
      .merge(fields(c.memory));
}

// Rewards in 0..1; a fraction counts as a part of a success (Beta updated by r and 1 − r).
class BernoulliTs : public Cloned<BernoulliTs> {
 public:
  BernoulliTs(const BernoulliTsConfig& config, const AgentSetup& setup)
      : Cloned(setup),
        counts_(checked(config).memory, setup.context_size, setup.actions,
                Counts{config.alpha, config.beta, config.alpha, config.beta}) {}

 private:
  struct Counts {
    double successes, failures;  // prior included
    double prior_successes, prior_failures;

    void discount(double factor) {
      successes = prior_successes + factor * (successes - prior_successes);
      failures = prior_failures + factor * (failures - prior_failures);
    }
    void state(Archive& archive) { archive(successes, failures); }
  };

  void values(ContextView, Stream& stream, std::span<double> out) const override {
    for (Action a = 0; a < out.size(); ++a) out[a] = stream.beta(counts_[a].successes, counts_[a].failures);
  }

  void observe(const Feedback& event) override {
    const double r = event.reward;
    if (r < 0.0 || r > 1.0) throw bad_input("bernoulli-ts needs rewards in 0..1, not {}; try gaussian-ts", r);
    counts_.learn(event.observation(), [](Counts& counts, ContextView, double reward) {
      counts.successes += reward;
      counts.failures += 1.0 - reward;
    });
  }

  void state(Archive& archive) override { archive.version("BernoulliTs", 1)(counts_); }
  void grow(std::size_t n) override { counts_.add_actions(n); }

  ActionPosteriors<Counts> counts_;
};

struct GaussianTsConfig {
  BayesLinearConfig prior{.lambda = 0.25, .a0 = 1.0, .b0 = 1.0};
  Memory memory{};
};
inline Fields fields(GaussianTsConfig& c) { return Fields{}.merge(fields(c.prior)).merge(fields(c.memory)); }

// Each action's rewards are N(mean, variance), both unknown: the regression on a constant.
class GaussianTs : public Cloned<GaussianTs> {
 public:
  GaussianTs(const GaussianTsConfig& config, const AgentSetup& setup)
      : Cloned(setup), posteriors_(config.memory, setup.context_size, setup.actions, BayesLinear(config.prior, 1)) {}

 private:
  void values(ContextView, Stream& stream, std::span<double> out) const override {
    for (Action a = 0; a < out.size(); ++a) out[a] = posteriors_[a].sample(stream)[0];
  }

  bool value_laws(ContextView, std::span<ValueLaw> out) const override {
    const Eigen::VectorXd one = Eigen::VectorXd::Ones(1);
    for (Action a = 0; a < out.size(); ++a) out[a] = posteriors_[a].law(one);
    return true;
  }

  void observe(const Feedback& event) override {
    posteriors_.learn(event.observation(), [](BayesLinear& posterior, ContextView, double reward) {
      posterior.observe(Eigen::VectorXd::Ones(1), reward);
    });
  }

  void state(Archive& archive) override { archive.version("GaussianTs", 1)(posteriors_); }
  void grow(std::size_t n) override { posteriors_.add_actions(n); }

  ActionPosteriors<BayesLinear> posteriors_;
};

}  // namespace pits
