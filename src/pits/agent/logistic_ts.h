// Thompson sampling with logistic regressions, one with intercept for each action, their posteriors Gaussian by
// Laplace's approximation (Chapelle & Li 2011, Algorithm 3 with batches of one). Rewards in 0..1.
#pragma once

#include "pits/agent/memory.h"
#include "pits/posterior/bayes_logistic.h"

namespace pits {

struct LogisticTsConfig {
  BayesLogisticConfig posterior{};
  int initial_pulls = 2;  // forced pulls of each action
  MemoryConfig memory{};
};
Fields fields(LogisticTsConfig& config);

class LogisticTs : public Agent {
 public:
  LogisticTs(const LogisticTsConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  void learn(std::span<const Feedback> events) override;
  std::unique_ptr<const Policy> snapshot() const override { return std::make_unique<LogisticTs>(*this); }
  void state(Archive& archive) override { archive(posteriors_, events_); }
  void add_actions(std::size_t n) override;

  const BayesLogistic& posterior(Action a) const { return posteriors_[a]; }

 private:
  LogisticTsConfig config_;
  AgentSetup setup_;
  ActionPosteriors<BayesLogistic> posteriors_;
  std::uint64_t events_ = 0;
};

}  // namespace pits
