// Particle-interactive Thompson sampling, the paper's Algorithm 1: draw one particle, play its best action, store what
// happened, and move the particles by a flow when training is due. Most agents with networks are settings of this one
// (presets.h).
#pragma once

#include "pits/agent/agent.h"
#include "pits/agent/together.h"
#include "pits/posterior/posterior.h"

namespace pits {

struct PiTsConfig {
  PosteriorConfig posterior{};
  Exploration exploration{};
};
inline Fields fields(PiTsConfig& c) {
  return Fields{}
      .merge(fields(c.posterior))
      .merge(fields(c.exploration))
      .renamed("explore", "floor")
      .renamed("explore_decay", "floor_decay");
}

class PiTs : public Cloned<PiTs>, public DecidesTogether {
 public:
  PiTs(const PiTsConfig& config, const AgentSetup& setup);

  bool training_due() const override { return posterior_.training_due(); }
  void train() override { posterior_.train(); }
  bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const override;
  bool mean_rewards(ContextView x, std::span<double> out) const override;  // of a mixture
  // The mean reward of every action at x, (K), as particle i has it: by its own draw, the first of those that it holds.
  void particle_rewards(std::uint32_t i, ContextView x, std::span<double> out) const;
  std::shared_ptr<void> prepare(std::span<const ContextView> contexts) const override;  // of a mixture

  const PiTsConfig& config() const { return config_; }
  const Posterior& posterior() const { return posterior_; }

 private:
  Action decide(const Query& query, Stream& stream, ActionProbabilities* exact) const override;
  void find_probabilities(const Query& query, ActionProbabilities& exact) const;  // of fresh draws
  // Of a row of the posterior's values; `draw` is the address of a fresh one.
  void row_rewards(std::size_t row, std::uint32_t draw, ContextView x, std::span<double> out) const;
  void to_raw(std::span<double> rewards) const;
  void observe(const Feedback& event) override { posterior_.learn(event.observation(), trains_in_line()); }
  void state(Archive& archive) override { archive.version("PiTs", 1)(posterior_); }
  void grow(std::size_t n) override { posterior_.add_actions(n); }

  PiTsConfig config_;
  Posterior posterior_;
};

}  // namespace pits
