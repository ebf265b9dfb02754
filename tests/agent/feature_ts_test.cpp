// feature-ts: its units, when it trains, and the fields that it has.
#include "pits/agent/particle/feature_ts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agent/play.h"
#include "experiment/expect_error.h"
#include "model/plain_model.h"
#include "pits/agent/presets.h"

namespace pits::test {
namespace {

constexpr std::size_t features = 2;

FeatureTsConfig small_config(UnitsKind units = UnitsKind::standardised) {
  FeatureTsConfig c{.posterior = pi_ts_preset("pi-ts", "paper").posterior};
  c.exploration.initial_pulls = 0;
  c.posterior.particles = 7;
  c.posterior.model.hidden = {6};
  c.posterior.batch = 8;
  c.posterior.units = units;
  c.posterior.training.every = 5;
  c.posterior.training.steps = 2;
  c.action_features = features;
  return c;
}

Matrix<float> features_of_actions(float scale = 1.0F) {
  Matrix<float> z(action_count, features);
  Stream({.seed = 9, .purpose = Purpose::target_sample}).fill_normal(z.flat(), 0.5F);
  for (float& v : z.flat()) v = scale * (3.0F + v);
  return z;
}

// Contexts about 10, rewards about 40, all of them times `scale`.
std::vector<Event> far_events(std::size_t n, std::uint64_t seed, float scale = 1.0F) {
  std::vector<Event> events = random_events(n, seed);
  for (Event& e : events) {
    for (float& x : e.x) x = scale * (10.0F + x);
    e.reward = scale * (40.0F + e.reward);
  }
  return events;
}

FeatureTs taught(const FeatureTsConfig& config, const std::vector<Event>& events, const Matrix<float>& z = {}) {
  FeatureTs agent(config, small_setup(3));
  for (const Event& e : events) {
    Feedback feedback = e.feedback();
    if (z.size() > 0) feedback.z = z.row(e.action);
    agent.learn({&feedback, 1});
  }
  return agent;
}

// Mean and standard deviation of what the agent has been told: column d + features is the reward.
struct Moments {
  std::vector<double> mean, sd;
};
Moments moments_of(const History& history) {
  const std::size_t columns = context_size + features + 1;
  Moments m{std::vector<double>(columns, 0.0), std::vector<double>(columns, 0.0)};
  const auto n = static_cast<double>(history.size());
  const auto number = [&](std::size_t i, std::size_t j) -> double {
    return j + 1 < columns ? history[i].context[j] : history[i].reward;
  };
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < history.size(); ++i) m.mean[j] += number(i, j) / n;
    for (std::size_t i = 0; i < history.size(); ++i) m.sd[j] += std::pow(number(i, j) - m.mean[j], 2) / n;
    m.sd[j] = std::sqrt(m.sd[j]);
  }
  return m;
}

// Rewards by particle i at (x, z_a) in raw units, by the plain loop on numbers that are standardised here.
std::vector<double> plain_rewards(const FeatureTs& agent, const ModelConfig& model, std::size_t i,
                                  std::span<const float> x, const Matrix<float>& z) {
  const Moments m = moments_of(agent.posterior().history());
  const PlainModel plain{model, context_size + features, 1};
  std::vector<double> rewards;
  for (Action a = 0; a < action_count; ++a) {
    std::vector<double> joint(x.begin(), x.end());
    joint.insert(joint.end(), z.row(a).begin(), z.row(a).end());
    for (std::size_t j = 0; j < joint.size(); ++j) joint[j] = (joint[j] - m.mean[j]) / m.sd[j];
    rewards.push_back(m.mean.back() +
                      m.sd.back() * plain.predict(as_double(agent.posterior().particles().row(i)), joint)[0]);
  }
  return rewards;
}

// 20 events, trained after the last of them: the units are those of all that has arrived.
TEST(FeatureTsUnits, AreThoseOfDecisions) {
  const FeatureTsConfig config = small_config();
  const Matrix<float> z = features_of_actions();
  const FeatureTs agent = taught(config, far_events(20, 5), z);
  const auto snapshot = agent.clone();
  int undecided = 0;
  for (const Event& asked : far_events(30, 8)) {
    std::vector<double> share(action_count, 0.0);
    for (std::size_t i = 0; i < 7; ++i) {
      const auto m = plain_rewards(agent, config.posterior.model, i, asked.x, z);
      share[static_cast<std::size_t>(std::ranges::max_element(m) - m.begin())] += 1.0 / 7.0;
    }
    undecided += *std::ranges::max_element(share) < 0.99 ? 1 : 0;
    const Query query{.x = asked.x, .actions = {.features = z}, .id = 4, .want_propensity = true};
    for (const Agent* decides : {static_cast<const Agent*>(&agent), static_cast<const Agent*>(snapshot.get())}) {
      std::vector<float> p(action_count);
      EXPECT_EQ(decides->propensities(query, 1, p), 0.0);
      for (Action a = 0; a < action_count; ++a) EXPECT_NEAR(p[a], share[a], 1e-6) << a;
      const Decision decision = decides->choose(query);
      EXPECT_EQ(decision.propensity, p[decision.action]);
      EXPECT_GT(p[decision.action], 0.0F);
    }
  }
  EXPECT_GT(undecided, 0);
}

TEST(FeatureTsUnits, OfDrawnRewardsAreRaw) {
  const FeatureTsConfig config = small_config();
  const FeatureTs agent = taught(config, far_events(20, 5));
  Matrix<float> codes(action_count, features);
  for (Action a = 0; a < action_count; ++a) action_code(small_setup(3), a, codes.row(a));
  std::vector<double> rewards(action_count);
  for (const Event& asked : far_events(10, 8)) {
    for (std::uint32_t draw = 0; draw < 9; ++draw) {
      ASSERT_TRUE(agent.draw_rewards(asked.x, draw, rewards));
      const auto plain = plain_rewards(agent, config.posterior.model, draw % 7, asked.x, codes);
      for (Action a = 0; a < action_count; ++a) EXPECT_NEAR(rewards[a], plain[a], 1e-3);
    }
  }
}

TEST(FeatureTs, DrawsProbabilitiesFromABernoulliModel) {
  FeatureTsConfig config = small_config(UnitsKind::raw);
  config.posterior.model.kind = ModelKind::mlp_logistic;
  const FeatureTs agent = taught(config, random_events(20, 5));
  const PlainModel plain{config.posterior.model, context_size + features, 1};
  const std::vector<float> x = {0.3F, -1.0F, 0.5F};
  std::vector<double> rewards(action_count);
  ASSERT_TRUE(agent.draw_rewards(x, 2, rewards));
  for (Action a = 0; a < action_count; ++a) {
    std::vector<float> joint = x, code(features);
    action_code(small_setup(3), a, code);
    joint.insert(joint.end(), code.begin(), code.end());
    const auto p = plain.predict(as_double(agent.posterior().particles().row(2)), as_double(joint));
    EXPECT_NEAR(rewards[a], p[0], 1e-5);
  }
}

// A power of two changes no digit: other units, the same decisions.
TEST(FeatureTsUnits, DoNotMatterWhereTheyAreStandardised) {
  const Matrix<float> z = features_of_actions(), wide = features_of_actions(64.0F);
  const FeatureTs agent = taught(small_config(), far_events(23, 5), z);
  const FeatureTs scaled = taught(small_config(), far_events(23, 5, 64.0F), wide);
  const auto asked = far_events(50, 8), asked_wide = far_events(50, 8, 64.0F);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Query query{.x = asked[i].x, .actions = {.features = z}, .id = i, .want_propensity = true};
    const Query other{.x = asked_wide[i].x, .actions = {.features = wide}, .id = i, .want_propensity = true};
    const Decision one = agent.choose(query), two = scaled.choose(other);
    EXPECT_EQ(one.action, two.action);
    EXPECT_EQ(one.propensity, two.propensity);
  }
}

// Rounds after which a training has moved the particles, of the first n.
std::vector<std::uint64_t> trainings(const FeatureTsConfig& config, std::size_t n) {
  FeatureTs agent(config, small_setup());
  std::vector<std::uint64_t> rounds;
  std::int64_t steps = 0;
  for (const Event& e : random_events(n, 5)) {
    learn_all(agent, {e});
    if (agent.posterior().steps_done() == steps) continue;
    EXPECT_EQ(agent.posterior().steps_done(), steps + config.posterior.training.steps);
    steps = agent.posterior().steps_done();
    rounds.push_back(agent.posterior().history().seen());
  }
  return rounds;
}

TEST(FeatureTs, TrainsWhenItsFieldsSay) {
  FeatureTsConfig config = small_config();
  using Rounds = std::vector<std::uint64_t>;
  EXPECT_EQ(trainings(config, 22), (Rounds{5, 10, 15, 20}));
  config.posterior.training.every = 20;
  config.posterior.training.first = 3;
  EXPECT_EQ(trainings(config, 13), (Rounds{3, 6, 9, 12}));
  config.posterior.training.first = 0;
  config.posterior.training.every = 2;
  config.posterior.training.share = 0.5;  // each half of the rounds so far after the one before
  EXPECT_EQ(trainings(config, 30), (Rounds{2, 4, 7, 13, 25}));
}

TEST(FeatureTs, HasNoFieldsOfLastLayersThatItDoesNotHave) {
  for (const char* field : {"last_layer=exact", "posterior_scale=1", "mean_shrinkage=1", "scale_prior=1",
                            "optimistic=true", "train_noise=true", "linear_inputs=3"}) {
    const std::string name = std::string(field).substr(0, std::string(field).find('='));
    expect_mentions(message_of([&] { small_agent(std::string("feature-ts,") + field, small_setup()); }),
                    {"feature-ts", name});
    EXPECT_NO_THROW(find_recipe(agent_catalogue(), "agent", parse_spec(std::string("pi-ts,") + field))) << field;
  }
  FeatureTsConfig config = small_config();
  config.posterior.last_layer.kind = LastLayerKind::exact;
  expect_mentions(message_of([&] { FeatureTs(config, small_setup()); }), {"last_layer=trained"});
}

}  // namespace
}  // namespace pits::test
