// π-TS over joint features: one network m(x, z) of a context and an action's features, so that all actions are scored
// together and one that was never played is chosen for what it is like. The features of all actions come with a query
// (ActionSet::features, one row each) and those of the action with its reward (Feedback::z); where none come, an
// action's features are a random code of its own.
#pragma once

#include "pits/agent/pi_ts.h"

namespace pits {

struct FeatureTsConfig {
  PiTsConfig particles{};  // whose last layers are trained with the others
  int action_features = 8;
};
Fields fields(FeatureTsConfig& config);
FeatureTsConfig feature_ts_preset(std::string_view name);

// Decisions by particles that somebody else owns.
struct JointVote {
  const RewardModel& model;
  ParticlesView theta;  // (M,P)
  const Units& units;   // of a context and an action's features together
  double floor;
  int initial_pulls;
  std::uint64_t events;
  std::size_t action_features;
  AgentSetup setup;

  Decision choose(const Query& query) const;
  // The share of particles that prefer each action, mixed with the floor.
  double propensities(const Query& query, std::span<float> p) const;
  // Rewards of every action by some of the particles, (particles, K), in the networks' units; of a Bernoulli model,
  // their logits.
  void scores(const Query& query, ParticlesView particles, MatrixView<float> out) const;
  void check(const Query& query) const;

 private:
  void count_votes(ConstMatrixView<float> values, const ActionSet& actions, std::span<float> p) const;
};

class FeatureTs : public Agent {
 public:
  FeatureTs(const FeatureTsConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override { return vote().choose(query); }
  void check(const Query& query) const override { vote().check(query); }
  double propensities(const Query& query, std::uint32_t, std::span<float> p) const override {
    return vote().propensities(query, p);
  }
  void learn(std::span<const Feedback> events) override;
  // Of actions without features.
  bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const override;
  std::unique_ptr<const Policy> snapshot() const override;
  void state(Archive& archive) override { archive(posterior_, trained_at_); }
  void add_actions(std::size_t n) override { setup_.add_actions(n); }  // what they are like is all there is to know

  const ParticlePosterior& posterior() const { return posterior_; }

 private:
  JointVote vote() const;

  FeatureTsConfig config_;
  AgentSetup setup_;
  ParticlePosterior posterior_;
  std::uint64_t trained_at_ = 0;  // rounds seen when the last training was
};

// N(0,1) numbers that depend on the seed and the action alone.
void action_code(const AgentSetup& setup, Action action, std::span<float> z);

}  // namespace pits
