// Thompson sampling by a mean-field posterior over a network's weights (Bayes by backprop, Blundell et al. 2015), as
// the showdown of Riquelme et al. (2018) sets it: a decision draws one network and plays its best action.
#pragma once

#include "pits/agent/agent.h"
#include "pits/posterior/mean_field.h"
#include "pits/posterior/training.h"

namespace pits {

struct ViTsConfig {
  MeanFieldConfig posterior{};
  Exploration exploration{};
  Training training{.every = 50, .steps = 100};
};
inline Fields fields(ViTsConfig& c) {
  return Fields{}.merge(fields(c.posterior)).merge(fields(c.exploration)).merge(fields(c.training));
}

class ViTs : public Cloned<ViTs> {
 public:
  ViTs(const ViTsConfig& config, const AgentSetup& setup)
      : Cloned(setup, checked(config).exploration),
        config_(config),
        posterior_(config.posterior, setup.context_size, setup.actions,
                   {.seed = setup.seed, .realization = setup.realization}) {}

  bool training_due() const override { return due(events()); }
  void train() override { train(events()); }
  bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const override {
    Stream stream = posterior_stream(setup(), draw);
    values(x, stream, out);
    return true;
  }

  const MeanField& posterior() const { return posterior_; }

 private:
  void values(ContextView x, Stream& stream, std::span<double> out) const override {
    thread_local GaussianNetwork::Workspace workspace;
    thread_local std::vector<float> rewards;
    rewards.resize(out.size());
    posterior_.network().sample(posterior_.weights(), x, stream, workspace, rewards);
    std::ranges::copy(rewards, out.begin());
  }

  void observe(const Feedback& event) override {
    posterior_.observe(event.observation());
    if (trains_in_line() && due(events() + 1)) train(events() + 1);
  }
  bool due(std::uint64_t t) const { return config_.training.due(t, trained_at_, config_.posterior.memory); }
  void train(std::uint64_t t) {  // after t events
    trained_at_ = t;
    posterior_.train(config_.training.steps);
  }

  void state(Archive& archive) override { archive.version("ViTs", 1)(posterior_, trained_at_); }
  void grow(std::size_t n) override { posterior_.add_actions(n); }

  ViTsConfig config_;
  MeanField posterior_;
  std::uint64_t trained_at_ = 0;  // events there were at the last training
};

}  // namespace pits
