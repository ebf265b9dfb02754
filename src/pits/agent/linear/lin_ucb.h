// LinUCB with disjoint models (Li et al. 2010): a ridge regression with intercept per action, A = XᵀX + λI, θ = A⁻¹Xᵀr,
// and the action of highest x·θ + alpha · √(xᵀA⁻¹x).
#pragma once

#include <cmath>

#include "pits/agent/agent.h"
#include "pits/posterior/action_posteriors.h"
#include "pits/posterior/bayes_linear.h"

namespace pits {

struct LinUcbConfig {
  double alpha = 1.0;
  double lambda = 1.0;
  Exploration exploration{};
  Memory memory{};
};
inline Fields fields(LinUcbConfig& c) {
  return Fields{}
      .add("alpha", c.alpha, "widths of the bound above the estimate", at_least(0))
      .add("lambda", c.lambda, "ridge of the regressions", above(0))
      .merge(fields(c.exploration))
      .merge(fields(c.memory));
}

class LinUcb : public Cloned<LinUcb> {
 public:
  LinUcb(const LinUcbConfig& config, const AgentSetup& setup)
      : Cloned(setup, checked(config).exploration),
        alpha_(config.alpha),
        regressions_(config.memory, setup.context_size, setup.actions,
                     BayesLinear({.lambda = config.lambda}, static_cast<Eigen::Index>(setup.context_size) + 1)) {}

  double estimate(Action a, ContextView x) const { return regressions_[a].mean().dot(with_intercept(x)); }  // x·θ
  double width(Action a, ContextView x) const {  // √(xᵀA⁻¹x)
    return std::sqrt(regressions_[a].leverage(with_intercept(x)));
  }

 private:
  void values(ContextView x, Stream&, std::span<double> out) const override {
    for (Action a = 0; a < out.size(); ++a) out[a] = estimate(a, x) + alpha_ * width(a, x);
  }
  bool deterministic() const override { return true; }

  void observe(const Feedback& event) override {
    regressions_.learn(event.observation(), [](BayesLinear& regression, ContextView x, double reward) {
      regression.observe(with_intercept(x), reward);
    });
  }

  void state(Archive& archive) override { archive.version("LinUcb", 1)(regressions_); }
  void grow(std::size_t n) override { regressions_.add_actions(n); }

  double alpha_;
  ActionPosteriors<BayesLinear> regressions_;  // their inverse-gamma half is not used
};

}  // namespace pits
