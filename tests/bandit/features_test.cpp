// Actions that are known by their features.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "bandit/small_bandit.h"
#include "experiment/expect_error.h"
#include "pits/agent/particle/feature_ts.h"

namespace pits::test {
namespace {

constexpr std::size_t features = 3;

Matrix<float> action_table(std::size_t K, std::uint64_t seed) {
  Matrix<float> z(K, features);
  Stream({.seed = seed, .purpose = Purpose::target_sample}).fill_normal(z.flat(), 0.5F);
  return z;
}

// An action that is like the context pays: x·z, give or take 0.1.
float reward_of(std::span<const float> x, std::span<const float> z, Stream& noise) {
  double mean = 0.0;
  for (std::size_t j = 0; j < features; ++j) mean += x[j] * z[j];
  return static_cast<float>(mean + 0.1 * noise.normal());
}

std::vector<float> context(Stream& stream) {
  std::vector<float> x(features);
  for (float& value : x) value = static_cast<float>(stream.normal());
  return x;
}

const std::string spec = "feature-ts,action_features=3,hidden=30,particles=10,batch=128,step=0.01,decay=0";

// Every 100 rounds a table of actions that were never played; the share of what the best of the newest ones pay that
// decisions earn right after their arrival. Chance earns nothing.
TEST(ActionFeatures, ActionsThatWereNeverPlayedAreChosenForWhatTheyAreLike) {
  Bandit bandit(spec, {.context_size = features, .actions = 20, .seed = 1});
  Stream stream({.seed = 6, .purpose = Purpose::environment_context});
  double earned = 0.0, possible = 0.0;
  Matrix<float> z = action_table(20, 100);
  for (std::uint64_t t = 0; t < 1000; ++t) {
    if (t % 100 == 0 && t > 0) {
      z = action_table(20 + t / 10, 100 + t);  // all of them new, and ten more than before
      bandit.add_actions(10);
    }
    const std::vector<float> x = context(stream);
    const Choice choice = bandit.decide(x, {.features = z});
    const float reward = reward_of(x, z.row(choice.action), stream);
    bandit.learn(choice.id, reward);
    if (t < 800 || t % 100 >= 20) continue;
    double best = 0.0;
    for (std::size_t a = 0; a < z.rows(); ++a) {
      double mean = 0.0;
      for (std::size_t j = 0; j < features; ++j) mean += x[j] * z(a, j);
      best = std::max(best, mean);
    }
    earned += reward;
    possible += best;
  }
  EXPECT_GT(earned, 0.7 * possible);
}

TEST(ActionFeatures, AreSavedWithDecisionsThatWait) {
  Bandit bandit(small_spec("feature-ts,action_features=3"), small_setup());
  const Matrix<float> z = action_table(action_count, 3);
  Stream stream({.seed = 6, .purpose = Purpose::environment_context});
  for (int t = 0; t < 30; ++t) {
    const Choice choice = bandit.decide(context(stream), {.features = z});
    if (t % 2 == 0) bandit.learn(choice.id, 0.5F);
  }
  Bandit loaded = Bandit::from_saved(bandit.saved(), "it");
  for (DecisionId id = 1; id < 30; id += 2) {
    EXPECT_TRUE(bandit.learn(id, 1.0F));
    EXPECT_TRUE(loaded.learn(id, 1.0F));
  }
  EXPECT_EQ(loaded.saved(), bandit.saved());
}

// The features that a decision came with are those that its reward teaches.
TEST(ActionFeatures, OfTheDecisionAreLearned) {
  const Matrix<float> z = action_table(action_count, 3);
  const std::vector<float> x = {0.3F, -1.0F, 0.5F};
  Bandit bandit(small_spec("feature-ts,action_features=3"), small_setup());
  const Choice choice = bandit.decide(x, {.features = z});
  bandit.learn(choice.id, 1.0F);
  const auto& history = dynamic_cast<const FeatureTs&>(bandit.agent()).posterior().history();
  std::vector<float> joint = x;
  joint.insert(joint.end(), z.row(choice.action).begin(), z.row(choice.action).end());
  EXPECT_TRUE(std::ranges::equal(history[0].context, joint));
}

// As if each action had its own network input, whatever the mask: the propensity is the share of particles.
TEST(ActionFeatures, PropensitiesAreVotes) {
  Bandit bandit(small_spec("feature-ts,action_features=3"), small_setup());
  const Matrix<float> z = action_table(action_count, 3);
  const std::vector<float> x = {0.3F, -1.0F, 0.5F};
  std::vector<float> p(action_count);
  EXPECT_EQ(bandit.probabilities(x, p, {.features = z}), 0.0);
  std::vector<double> counts(action_count, 0.0);
  for (int t = 0; t < 2000; ++t) {
    const Choice choice = bandit.decide(x, {.features = z});
    ASSERT_EQ(choice.propensity.value(), p[choice.action]);
    counts[choice.action] += 1.0 / 2000.0;
  }
  for (Action a = 0; a < action_count; ++a) {
    EXPECT_NEAR(counts[a], p[a], 5.0 * std::sqrt(p[a] * (1.0 - p[a]) / 2000.0) + 1e-9);
  }
}

TEST(ActionFeatures, ThatDoNotFitAreRefused) {
  Bandit bandit(small_spec("feature-ts,action_features=3"), small_setup());
  const std::vector<float> x = {0.3F, -1.0F, 0.5F};
  const Matrix<float> fewer = action_table(action_count - 1, 3);
  expect_mentions(message_of([&] { bandit.decide(x, {.features = fewer}); }), {"(4,3)", "(3,3)"});
  Matrix<float> broken = action_table(action_count, 3);
  broken(2, 1) = std::numeric_limits<float>::infinity();
  expect_mentions(message_of([&] { bandit.decide(x, {.features = broken}); }), {"action 2", "finite"});
  expect_mentions(message_of([&] { bandit.learn(x, 0, 1.0F, std::vector<float>{1.0F}); }),
                  {"3 finite numbers", "not 1"});
  Matrix<float> contexts(2, 3), logged(1, 3);
  const std::vector<Action> actions = {0, 1};
  const std::vector<float> rewards = {0.0F, 1.0F}, even = {0.25F, 0.25F};
  expect_mentions(message_of([&] {
                    bandit.fit({.contexts = contexts, .actions = actions, .rewards = rewards, .features = logged});
                  }),
                  {"2 logged contexts", "not 1"});
  Matrix<float> both(2, 3);
  expect_mentions(
      message_of([&] {
        bandit.fit(
            {.contexts = contexts, .actions = actions, .rewards = rewards, .propensities = even, .features = both});
      }),
      {"propensities or features"});
}

// Made for K = 0 actions, a bandit takes candidates: lists of any length, and no turn, mask or retirement of its own.
TEST(ActionFeatures, CandidatesComeWithEachDecision) {
  Bandit bandit(spec, {.context_size = features, .actions = 0, .seed = 1}, {.floor = 0.1});
  Stream stream({.seed = 7, .purpose = Purpose::environment_context});
  for (std::size_t t = 0; t < 40; ++t) {
    const Matrix<float> z = action_table(1 + t % 9, t);
    const std::vector<float> x = context(stream);
    std::vector<float> p(z.rows());
    EXPECT_EQ(bandit.probabilities(x, p, {.features = z}), 0.0);
    const Choice choice = bandit.decide(x, {.features = z});
    ASSERT_LT(choice.action, z.rows());
    EXPECT_EQ(choice.propensity, p[choice.action]);
    bandit.learn(choice.id, reward_of(x, z.row(choice.action), stream));
    if (t == 20) bandit = Bandit::from_saved(bandit.saved(), "itself");
  }
  const Matrix<float> z = action_table(5, 50);
  const std::vector<float> x = context(stream);
  const std::vector<Choice> page = bandit.rank(x, 9, {.features = z});
  std::set<Action> ranked;
  for (const Choice& choice : page) ranked.insert(choice.action);
  EXPECT_EQ(ranked, (std::set<Action>{0, 1, 2, 3, 4}));
  bandit.learn(x, 77, 1.0F, z.row(0));  // any place of a list that nobody kept
  EXPECT_THROW(bandit.learn(x, 0, 1.0F), Error);
  EXPECT_THROW(bandit.decide(x), Error);
  EXPECT_THROW(bandit.add_actions(), Error);
  EXPECT_THROW(Bandit("lin-ts", {.context_size = 1, .actions = 0}), Error);
  Bandit other("lin-ts", {.context_size = features, .actions = 5});
  EXPECT_THROW(other.decide(x, {.features = z}), Error);
  EXPECT_THROW(other.learn(x, 0, 1.0F, z.row(0)), Error);
}

}  // namespace
}  // namespace pits::test
