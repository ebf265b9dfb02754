// Thompson sampling without contexts, the paper's Algorithm 2 where the posterior has a closed form.
#pragma once

#include "pits/agent/memory.h"
#include "pits/posterior/bayes_linear.h"

namespace pits {

struct BernoulliTsConfig {
  double alpha = 1.0;  // prior Beta(alpha, beta) of an action's success probability
  double beta = 1.0;
  MemoryConfig memory{};
};
Fields fields(BernoulliTsConfig& config);

// Rewards in 0..1; a fraction counts as a part of a success (Beta updated by r and 1 − r).
class BernoulliTs : public Agent {
 public:
  BernoulliTs(const BernoulliTsConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  void learn(std::span<const Feedback> events) override;
  std::unique_ptr<const Policy> snapshot() const override { return std::make_unique<BernoulliTs>(*this); }
  void state(Archive& archive) override { archive(counts_); }
  void add_actions(std::size_t n) override {
    setup_.add_actions(n);
    counts_.add_actions(n);
  }

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
  AgentSetup setup_;
  ActionPosteriors<Counts> counts_;
};

struct GaussianTsConfig {
  BayesLinearConfig prior{.lambda = 0.25, .a0 = 1.0, .b0 = 1.0};
  MemoryConfig memory{};
};
Fields fields(GaussianTsConfig& config);

// Each action's rewards are N(mean, variance), both unknown: the regression on a constant.
class GaussianTs : public Agent {
 public:
  GaussianTs(const GaussianTsConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  void learn(std::span<const Feedback> events) override;
  std::unique_ptr<const Policy> snapshot() const override { return std::make_unique<GaussianTs>(*this); }
  void state(Archive& archive) override { archive(posteriors_); }
  void add_actions(std::size_t n) override {
    setup_.add_actions(n);
    posteriors_.add_actions(n);
  }

 private:
  AgentSetup setup_;
  ActionPosteriors<BayesLinear> posteriors_;
};

}  // namespace pits
