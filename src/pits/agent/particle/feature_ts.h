// π-TS over joint features: one network m(x, z) of a context and an action's features, so that all actions are scored
// together and one that was never played is chosen for what it is like. The features of all actions come with a query
// (ActionSet::features, one row each) and those of the action with its reward (Feedback::z); where none come, an
// action's features are a random code of its own.
#pragma once

#include "pits/agent/agent.h"
#include "pits/posterior/posterior.h"

namespace pits {

struct FeatureTsConfig {
  PosteriorConfig posterior{};  // its last layers are trained with the others
  Exploration exploration{};
  int action_features = 8;
};
Fields fields(FeatureTsConfig& config);

class FeatureTs : public Cloned<FeatureTs> {
 public:
  FeatureTs(const FeatureTsConfig& config, const AgentSetup& setup);

  bool takes_features() const override { return true; }
  bool training_due() const override { return posterior_.training_due(); }
  void train() override { posterior_.train(); }
  // Of actions without features.
  bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const override;

  const Posterior& posterior() const { return posterior_; }

 private:
  Action decide(const Query& query, Stream& stream, ActionProbabilities* exact) const override;
  void observe(const Feedback& event) override;
  void state(Archive& archive) override { archive.version("FeatureTs", 1)(posterior_); }
  void grow(std::size_t) override {}  // what new actions are like is all there is to know of them
  void check_features(const Query& query) const override;
  // Rewards of every action by some of the particles, (particles, K), in the networks' units; of a Bernoulli model,
  // their logits.
  void scores(const Query& query, ParticlesView particles, MatrixView<float> out) const;

  std::size_t action_features_;
  Posterior posterior_;
};

// N(0,1) numbers that depend on the seed and the action alone.
void action_code(const AgentSetup& setup, Action action, std::span<float> z);

}  // namespace pits
