// Particle-interactive Thompson sampling, the paper's Algorithm 1: draw one particle, play its best action, store
// what happened, and move the particles by a flow when training is due.
#pragma once

#include <memory>

#include "pits/agent/agent.h"
#include "pits/posterior/particles.h"

namespace pits {

struct PiTsConfig {
  ParticleConfig posterior{};
  int initial_pulls = 2;     // forced pulls of each action
  int train_every = 20;      // rounds between trainings
  int train_steps = 20;      // steps of the flow in a training
  double floor = 0.0;        // ε: the least probability of an action is ε/K
  double floor_decay = 0.0;  // ε = floor/(1 + floor_decay·t) after t rounds
};
Fields fields(PiTsConfig& config);

// `paper`: Eq. 6 with the likelihood scaled by t/B. `released`: the authors' code, which made the paper's table.
PiTsConfig pi_ts_preset(std::string_view name);

// Decisions by a set of particles that somebody else owns.
struct ParticleVote {
  const RewardModel& model;
  ParticlesView theta;  // (M,P)
  double floor;
  int initial_pulls;
  std::uint64_t events;  // learned so far
  AgentSetup setup;

  // One particle's forward pass; only want_propensity pays for all M.
  Decision choose(const Query& query) const;
  // Probability of every action, (K): the share of particles that prefer it, mixed with the floor; 1 for a forced pull.
  std::vector<float> probabilities(const Query& query) const;
  double propensities(const Query& query, std::span<float> p) const;  // the same, of a query that is checked

 private:
  // The best allowed action of one particle.
  Action preferred(std::size_t particle, const Query& query) const;
  // Of an action that `votes` of the particles prefer.
  float probability(std::size_t votes, const Query& query) const;
};

// A copy that no longer learns.
std::unique_ptr<const Policy> frozen(const ParticleVote& vote);

class PiTs : public Agent {
 public:
  PiTs(const PiTsConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  void learn(std::span<const Feedback> events) override;
  bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const override;
  std::unique_ptr<const Policy> snapshot() const override { return frozen(vote()); }
  void state(Archive& archive) override { archive(posterior_); }
  void add_actions(std::size_t n) override;
  double propensities(const Query& query, std::uint32_t draws, std::span<float> p) const override;

  std::vector<float> probabilities(const Query& query) const;
  const ParticlePosterior& posterior() const { return posterior_; }
  const PiTsConfig& config() const { return config_; }

 private:
  ParticleVote vote() const;

  PiTsConfig config_;
  AgentSetup setup_;
  ParticlePosterior posterior_;
};

}  // namespace pits
