// Thompson sampling by a mean-field posterior over a network's weights (Bayes by backprop, Blundell et al. 2015), as
// the showdown of Riquelme et al. (2018) sets it: a decision draws one network and plays its best action.
#pragma once

#include "pits/agent/best_value.h"
#include "pits/posterior/mean_field.h"

namespace pits {

struct ViTsConfig {
  MeanFieldConfig posterior{};
  int initial_pulls = 2;  // forced pulls of each action
  int train_every = 50;   // rounds between trainings
  int train_steps = 100;
};
Fields fields(ViTsConfig& config);

class ViTs : public Agent {
 public:
  ViTs(const ViTsConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  void learn(std::span<const Feedback> events) override;
  std::unique_ptr<const Policy> snapshot() const override;
  void state(Archive& archive) override { archive(posterior_); }
  void add_actions(std::size_t n) override {
    posterior_.add_actions(n);
    setup_.add_actions(n);
  }
  bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const override;

  const MeanField& posterior() const { return posterior_; }

 private:
  Stage stage() const { return {setup_, config_.initial_pulls, posterior_.history().seen()}; }

  ViTsConfig config_;
  AgentSetup setup_;
  MeanField posterior_;
};

}  // namespace pits
