#include "pits/agent/particle/feature_ts.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "pits/agent/particle/votes.h"
#include "pits/model/joint_scores.h"

namespace pits {
namespace {

// Without a branch: there may be millions of numbers.
bool all_finite(std::span<const float> numbers) {
  constexpr std::uint32_t exponent = 0x7f800000;  // all ones in infinities and NaN
  std::uint32_t bad = 0;
  for (const float v : numbers) bad |= (std::bit_cast<std::uint32_t>(v) & exponent) == exponent ? 1U : 0U;
  return bad == 0;
}

}  // namespace

Fields fields(FeatureTsConfig& c) {
  return Fields{}
      .merge(particle_fields(c.posterior))
      .merge(fields(c.posterior.training))
      .merge(fields(c.exploration))
      .add("action_features", c.action_features, "numbers that say what an action is like", between(1, 1e6));
}

void action_code(const AgentSetup& setup, Action action, std::span<float> z) {
  Stream stream(
      {.seed = setup.seed, .realization = setup.realization, .purpose = Purpose::agent_private, .step = action});
  stream.fill_normal(z);
}

FeatureTs::FeatureTs(const FeatureTsConfig& config, const AgentSetup& setup)
    : Cloned(setup, checked(config).exploration),
      action_features_(static_cast<std::size_t>(config.action_features)),
      posterior_(config.posterior, setup.context_size + action_features_, 1,
                 {.seed = setup.seed, .realization = setup.realization}) {
  if (config.posterior.last_layer.kind != LastLayerKind::trained) {
    throw bad_input("feature-ts has one output for all actions, whose last layer is trained: last_layer=trained");
  }
  if (config.posterior.units == UnitsKind::robust) {
    throw bad_input("feature-ts has no robust units: units=raw or units=standardised");
  }
}

void FeatureTs::check_features(const Query& query) const {
  const ConstMatrixView<float>& z = query.actions.features;
  if (z.size() == 0) return;
  if (const std::size_t K = query.actions.size(actions()); z.rows() != K || z.cols() != action_features_) {
    throw bad_input("features of actions are ({},{}) numbers, not ({},{})", K, action_features_, z.rows(), z.cols());
  }
  for (std::size_t a = 0; a < z.rows(); ++a) {
    if (!all_finite(z.row(a))) throw bad_input("the features of action {} are not finite", a);
  }
}

void FeatureTs::scores(const Query& query, ParticlesView particles, MatrixView<float> out) const {
  ConstMatrixView<float> z = query.actions.features;
  Matrix<float> codes, in_units;
  if (z.size() == 0) {
    codes.reshape(actions(), action_features_);
    for (Action a = 0; a < actions(); ++a) action_code(setup(), a, codes.row(a));
    z = std::as_const(codes).view();
  }
  const Standardiser& units = posterior_.standardiser();
  joint_scores(posterior_.model().network(), particles, units.context(query.x),
               units.columns(z, setup().context_size, in_units), out);
}

// One particle's forward pass; only probabilities pay for all M.
Action FeatureTs::decide(const Query& query, Stream& stream, ActionProbabilities* exact) const {
  const ParticlesView theta = posterior_.particles();
  const std::size_t drawn = stream.index(static_cast<std::uint32_t>(theta.rows()));
  Matrix<float> values(exact != nullptr ? theta.rows() : 1, query.actions.size(actions()));
  scores(query, exact != nullptr ? theta : theta.row_block(drawn, 1), values);
  if (exact != nullptr) count_votes(values, {}, query.actions, *exact);
  return best_action(std::as_const(values).row(exact != nullptr ? drawn : 0), query.actions);
}

void FeatureTs::observe(const Feedback& event) {
  if (event.z.empty() && actions() == 0) throw bad_input("the reward of a candidate needs its features");
  if (!event.z.empty() && (event.z.size() != action_features_ || !all_finite(event.z))) {
    throw bad_input("the features of an action are {} finite numbers, not {}", action_features_, event.z.size());
  }
  std::vector<float> joint(setup().context_size + action_features_);
  std::ranges::copy(event.x, joint.begin());
  const std::span<float> z = std::span(joint).last(action_features_);
  if (event.z.empty()) {
    action_code(setup(), event.action, z);
  } else {
    std::ranges::copy(event.z, z.begin());
  }
  posterior_.learn({.context = joint, .action = 0, .reward = event.reward}, trains_in_line());
}

bool FeatureTs::draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const {
  const ParticlesView theta = posterior_.particles();
  if (theta.rows() == 1) return false;  // one particle is a point, not a distribution
  Matrix<float> values(1, actions());
  scores({.x = x}, theta.row_block(draw % theta.rows(), 1), values);
  const bool logits = posterior_.model().bernoulli();
  std::ranges::transform(values.flat(), out.begin(), [&](float r) {
    return logits ? 1.0 / (1.0 + std::exp(-double{r})) : posterior_.standardiser().raw_reward(r);
  });
  return true;
}

}  // namespace pits
