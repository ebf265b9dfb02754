// Decisions by particles: one is drawn, and its best action is played; the share of particles that prefer an action is
// its probability.
#pragma once

#include <memory>
#include <vector>

#include "pits/agent/agent.h"
#include "pits/posterior/last_layers.h"

namespace pits {

// Decisions by a set of particles that somebody else owns.
struct ParticleVote {
  const RewardModel& model;
  ParticlesView theta;  // (M,P)
  const Units& units;
  const DrawnLayers* last_layers;  // none: the networks' own
  double floor;
  int initial_pulls;
  std::uint64_t events;  // learned so far
  AgentSetup setup;

  // One particle's forward pass where it decides alone; want_propensity pays for all M.
  Decision choose(const Query& query) const;
  // Probability of every action, (K): the share of particles that prefer it, mixed with the floor; 1 for a forced pull.
  std::vector<float> probabilities(const Query& query) const;
  double propensities(const Query& query, std::span<float> p) const;  // the same, of a query that is checked
  // Rewards of every action by one particle, (K); x and they in the networks' units.
  void values(std::size_t particle, ContextView x, std::span<float> out) const;

 private:
  // The rewards of all particles at x, (M,K), where they depend on each other, else none; valid until this thread asks
  // again.
  const Matrix<float>* together(ContextView x) const;
  // The best allowed action of one particle, x in the networks' units.
  Action preferred(std::size_t particle, ContextView x, const Matrix<float>* together, const ActionSet& actions) const;
  // Of an action that `votes` of the particles prefer.
  float probability(std::size_t votes, const Query& query) const;
};

// A copy that no longer learns.
std::unique_ptr<const Policy> frozen(const ParticleVote& vote);

}  // namespace pits
