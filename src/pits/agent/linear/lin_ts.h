// Linear Thompson sampling with exact posteriors, one regression with intercept per action, as the showdown of Riquelme
// et al. (2018) sets it.
#pragma once

#include "pits/agent/agent.h"
#include "pits/posterior/action_posteriors.h"
#include "pits/posterior/bayes_linear.h"

namespace pits {

struct LinTsConfig {
  BayesLinearConfig prior{};
  Exploration exploration{};
  Memory memory{};
};
inline Fields fields(LinTsConfig& c) {
  return Fields{}.merge(fields(c.prior)).merge(fields(c.exploration)).merge(fields(c.memory));
}

class LinTs : public Cloned<LinTs> {
 public:
  LinTs(const LinTsConfig& config, const AgentSetup& setup)
      : Cloned(setup, checked(config).exploration),
        posteriors_(config.memory, setup.context_size, setup.actions,
                    BayesLinear(config.prior, static_cast<Eigen::Index>(setup.context_size) + 1)) {}

  bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const override {
    Stream stream = posterior_stream(setup(), draw);
    values(x, stream, out);
    return true;
  }

  const BayesLinear& posterior(Action a) const { return posteriors_[a]; }

 private:
  void values(ContextView x, Stream& stream, std::span<double> out) const override {
    thread_local Eigen::VectorXd features, beta;
    with_intercept(x, features);
    for (Action a = 0; a < out.size(); ++a) {
      posteriors_[a].sample(stream, beta);
      out[a] = beta.dot(features);
    }
  }

  bool value_laws(ContextView x, std::span<ValueLaw> out) const override {
    thread_local Eigen::VectorXd features;
    with_intercept(x, features);
    for (Action a = 0; a < out.size(); ++a) out[a] = posteriors_[a].law(features);
    return true;
  }

  void observe(const Feedback& event) override {
    posteriors_.learn(event.observation(), [](BayesLinear& posterior, ContextView context, double reward) {
      thread_local Eigen::VectorXd x;
      with_intercept(context, x);
      posterior.observe(x, reward);
    });
  }

  void state(Archive& archive) override { archive.version("LinTs", 1)(posteriors_); }
  void grow(std::size_t n) override { posteriors_.add_actions(n); }

  ActionPosteriors<BayesLinear> posteriors_;
};

}  // namespace pits
