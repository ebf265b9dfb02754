#include "pits/agent/feature_ts.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "pits/model/joint_scores.h"

namespace pits {
namespace {

class FrozenJointVote final : public Policy {
 public:
  explicit FrozenJointVote(const JointVote& vote)
      : model_(vote.model),
        theta_(copy_of(vote.theta)),
        units_(vote.units),
        vote_{model_, theta_, units_, vote.floor, vote.initial_pulls, vote.events, vote.action_features, vote.setup} {}

  Decision choose(const Query& query) const override { return vote_.choose(query); }
  void check(const Query& query) const override { vote_.check(query); }
  double propensities(const Query& query, std::uint32_t, std::span<float> p) const override {
    return vote_.propensities(query, p);
  }

 private:
  RewardModel model_;
  Particles theta_;
  Units units_;
  JointVote vote_;  // by the copies above
};

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
      .merge(fields(c.particles.posterior))
      .merge(units_field(c.particles.posterior))
      .merge(round_fields(c.particles))
      .add("action_features", c.action_features, "numbers that say what an action is like", between(1, 1e6));
}

FeatureTsConfig feature_ts_preset(std::string_view) {
  FeatureTsConfig c{.particles = pi_ts_preset("paper")};
  c.particles.initial_pulls = 0;  // there may be thousands of actions
  return c;
}

void action_code(const AgentSetup& setup, Action action, std::span<float> z) {
  Stream stream(
      {.seed = setup.seed, .realization = setup.realization, .purpose = Purpose::agent_private, .step = action});
  stream.fill_normal(z);
}

void JointVote::check(const Query& query) const {
  check_query(query, setup);
  const ConstMatrixView<float>& z = query.actions.features;
  if (z.size() == 0) return;
  if (z.rows() != setup.actions || z.cols() != action_features) {
    throw bad_input("features of actions are ({},{}) numbers, not ({},{})", setup.actions, action_features, z.rows(),
                    z.cols());
  }
  for (std::size_t a = 0; a < z.rows(); ++a) {
    if (!all_finite(z.row(a))) throw bad_input("the features of action {} are not finite", a);
  }
}

void JointVote::scores(const Query& query, ParticlesView particles, MatrixView<float> out) const {
  ConstMatrixView<float> z = query.actions.features;
  Matrix<float> codes, in_units;
  if (z.size() == 0) {
    codes.reshape(setup.actions, action_features);
    for (Action a = 0; a < setup.actions; ++a) action_code(setup, a, codes.row(a));
    z = std::as_const(codes).view();
  }
  joint_scores(model.network(), particles, units.context(query.x), units.columns(z, setup.context_size, in_units), out);
}

// One particle's forward pass; only want_propensity pays for all M.
Decision JointVote::choose(const Query& query) const {
  check(query);
  if (const auto forced = forced_pull(events, initial_pulls, query, setup.first_actions())) return *forced;
  Stream stream = decision_stream(setup, query);
  const bool explores = floor > 0.0 && stream.uniform() < floor;
  const std::size_t M = theta.rows();
  const std::size_t drawn = explores ? 0 : stream.index(static_cast<std::uint32_t>(M));
  Matrix<float> values(query.want_propensity ? M : explores ? 0 : 1, setup.actions);
  if (query.want_propensity) {
    scores(query, theta, values);
  } else if (!explores) {
    scores(query, {theta.row(drawn).data(), 1, theta.cols()}, values);
  }
  Decision decision{.action = 0, .propensity = std::nullopt};
  if (explores) {
    skip_to_place(stream, query, 1);
    decision.action = random_action(stream, query.actions, setup.actions);
  } else {
    decision.action = best_action(std::as_const(values).row(query.want_propensity ? drawn : 0), query.actions);
  }
  if (!query.want_propensity) return decision;
  std::vector<float> p(setup.actions);
  count_votes(values, query.actions, p);
  decision.propensity = p[decision.action];
  return decision;
}

void JointVote::count_votes(ConstMatrixView<float> values, const ActionSet& actions, std::span<float> p) const {
  const auto M = static_cast<double>(values.rows());
  const double even = floor / static_cast<double>(actions.count(setup.actions));
  std::vector<int> votes(setup.actions, 0);
  for (std::size_t i = 0; i < values.rows(); ++i) ++votes[best_action(values.row(i), actions)];
  for (Action a = 0; a < p.size(); ++a) {
    p[a] = actions.admits(a) ? static_cast<float>((1.0 - floor) * votes[a] / M + even) : 0.0F;
  }
}

double JointVote::propensities(const Query& query, std::span<float> p) const {
  check(query);
  check_places(p, setup.actions);
  if (const auto forced = forced_pull(events, initial_pulls, query, setup.first_actions())) {
    std::ranges::fill(p, 0.0F);
    p[forced->action] = 1.0F;
    return 0.0;
  }
  Matrix<float> values(theta.rows(), setup.actions);
  scores(query, theta, values);
  count_votes(values, query.actions, p);
  return 0.0;
}

FeatureTs::FeatureTs(const FeatureTsConfig& config, const AgentSetup& setup)
    : config_(checked(config)),
      setup_(setup),
      posterior_(config.particles.posterior, setup.context_size + static_cast<std::size_t>(config.action_features), 1,
                 setup.seed, setup.realization) {
  if (config.particles.last_layer.kind != LastLayerKind::trained) {
    throw bad_input("feature-ts has one output for all actions, whose last layer is trained: last_layer=trained");
  }
}

JointVote FeatureTs::vote() const {
  const std::uint64_t t = posterior_.history().seen();
  const PiTsConfig& c = config_.particles;
  return {.model = posterior_.model(),
          .theta = posterior_.particles(),
          .units = posterior_.units(),
          .floor = c.floor / (1.0 + c.floor_decay * static_cast<double>(t)),
          .initial_pulls = c.initial_pulls,
          .events = t,
          .action_features = static_cast<std::size_t>(config_.action_features),
          .setup = setup_};
}

void FeatureTs::learn(std::span<const Feedback> events) {
  const auto features = static_cast<std::size_t>(config_.action_features);
  std::vector<float> joint(setup_.context_size + features);
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    if (!event.z.empty() && (event.z.size() != features || !all_finite(event.z))) {
      throw bad_input("the features of an action are {} finite numbers, not {}", features, event.z.size());
    }
    std::ranges::copy(event.x, joint.begin());
    const std::span<float> z = std::span(joint).last(features);
    if (event.z.empty()) {
      action_code(setup_, event.action, z);
    } else {
      std::ranges::copy(event.z, z.begin());
    }
    posterior_.observe({.context = joint, .action = 0, .reward = event.reward});
    const std::uint64_t t = posterior_.history().seen();
    if (t - trained_at_ < training_interval(config_.particles, t)) continue;
    posterior_.train(config_.particles.train_steps);
    trained_at_ = t;
  }
}

bool FeatureTs::draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const {
  const ParticlesView theta = posterior_.particles();
  if (theta.rows() == 1) return false;  // a point is no distribution
  Matrix<float> values(1, setup_.actions);
  vote().scores({.x = x}, theta.row_block(draw % theta.rows(), 1), values);
  const bool logits = posterior_.model().bernoulli();
  std::ranges::transform(values.flat(), out.begin(), [&](float r) {
    return logits ? 1.0 / (1.0 + std::exp(-double{r})) : posterior_.units().raw_reward(r);
  });
  return true;
}

std::unique_ptr<const Policy> FeatureTs::snapshot() const { return std::make_unique<FrozenJointVote>(vote()); }

}  // namespace pits
