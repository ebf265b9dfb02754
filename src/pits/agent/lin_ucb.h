// LinUCB with disjoint models (Li et al. 2010): a ridge regression with intercept for each action, A = XᵀX + λI,
// θ = A⁻¹Xᵀr, and the action of highest x·θ + alpha · √(xᵀA⁻¹x).
#pragma once

#include "pits/agent/lin_ts.h"

namespace pits {

struct LinUcbConfig {
  double alpha = 1.0;
  double lambda = 1.0;
  int initial_pulls = 2;  // forced pulls of each action
  MemoryConfig memory{};
};
Fields fields(LinUcbConfig& config);

class LinUcb : public Agent {
 public:
  LinUcb(const LinUcbConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  void learn(std::span<const Feedback> events) override;
  std::unique_ptr<const Policy> snapshot() const override { return std::make_unique<LinUcb>(*this); }
  void state(Archive& archive) override { archive(regressions_, events_); }
  void add_actions(std::size_t n) override;

  double estimate(Action a, ContextView x) const;  // x·θ
  double width(Action a, ContextView x) const;     // √(xᵀA⁻¹x)

 private:
  LinUcbConfig config_;
  AgentSetup setup_;
  ActionPosteriors<BayesLinear> regressions_;  // their inverse-gamma half is not used
  std::uint64_t events_ = 0;
};

}  // namespace pits
