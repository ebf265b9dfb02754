// Linear Thompson sampling with exact posteriors, one regression with intercept for each action, as the showdown of
// Riquelme et al. (2018) sets it.
#pragma once

#include "pits/agent/memory.h"
#include "pits/posterior/bayes_linear.h"

namespace pits {

// (x, 1): the intercept is one more coefficient.
void with_intercept(ContextView x, Eigen::VectorXd& out);
Eigen::VectorXd with_intercept(ContextView x);

struct LinTsConfig {
  BayesLinearConfig prior{};
  int initial_pulls = 2;
  MemoryConfig memory{};
};
Fields fields(LinTsConfig& config);

class LinTs : public Agent {
 public:
  LinTs(const LinTsConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  void learn(std::span<const Feedback> events) override;
  std::unique_ptr<const Policy> snapshot() const override { return std::make_unique<LinTs>(*this); }
  void state(Archive& archive) override { archive(posteriors_, events_); }
  void add_actions(std::size_t n) override;

  bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const override;

  const BayesLinear& posterior(Action a) const { return posteriors_[a]; }

 private:
  // The value of every action at x under one draw.
  void draw(ContextView x, Stream& stream, std::span<double> out) const;

  LinTsConfig config_;
  AgentSetup setup_;
  ActionPosteriors<BayesLinear> posteriors_;
  std::uint64_t events_ = 0;
};

}  // namespace pits
