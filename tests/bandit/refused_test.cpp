// A call that is refused for its arguments changes nothing.
#include <gtest/gtest.h>

#include <limits>

#include "bandit/small_bandit.h"
#include "experiment/expect_error.h"

namespace pits::test {
namespace {

const std::vector<float> x0 = {0.3F, -1.0F, 0.5F};

struct Refused {
  std::string name;
  std::vector<float> x;
  std::size_t k;
  std::vector<std::uint8_t> allowed;
  Matrix<float> features;
  std::vector<std::string> said;

  ActionSet actions() const { return {.allowed = allowed, .features = features}; }
};

Matrix<float> broken_features() {
  Matrix<float> z(action_count, 3);
  z(2, 1) = std::numeric_limits<float>::quiet_NaN();
  return z;
}

std::vector<Refused> refused_by(const std::string& spec) {
  std::vector<Refused> calls = {
      {"a context that is too short", {1.0F}, 1, {}, {}, {"3 numbers, not 1"}},
      {"a context that is no number", {0.0F, std::numeric_limits<float>::quiet_NaN(), 0.0F}, 1, {}, {}, {"finite"}},
      {"a mask that is too short", x0, 1, {1, 1}, {}, {"4 entries, not 2"}},
      {"a mask of nothing", x0, 1, {0, 0, 0, 0}, {}, {"no action is allowed"}},
      {"no place", x0, 0, {}, {}, {"at least one place"}}};
  if (!spec.starts_with("feature-ts")) {
    calls.push_back(
        {"features that nobody uses", x0, 1, {}, Matrix<float>(4, 3), {"ignore the features", "feature-ts"}});
  } else {
    calls.push_back({"too few features", x0, 1, {}, Matrix<float>(2, 3), {"features", "4", "2"}});
    calls.push_back({"too few features of a ranking", x0, 3, {}, Matrix<float>(2, 3), {"features", "4", "2"}});
    calls.push_back({"too many features", x0, 1, {}, Matrix<float>(5, 3), {"features", "4", "5"}});
    calls.push_back({"features of another size", x0, 1, {}, Matrix<float>(4, 2), {"(4,3)", "(4,2)"}});
    calls.push_back({"features that are no numbers", x0, 2, {}, broken_features(), {"action 2", "finite"}});
  }
  return calls;
}

class RefusedDecision : public testing::TestWithParam<std::string> {};

// The first decision is overdue: the next one that is made settles it, and one that is refused does not.
TEST_P(RefusedDecision, SettlesNothingAndWaitsForNothing) {
  for (const Refused& call : refused_by(GetParam())) {
    Bandit bandit(small_spec(GetParam()), small_setup(), {.default_after = 1});
    const DecisionId waiting = bandit.decide(x0).id;
    const std::string before = bandit.saved();
    expect_mentions(message_of([&] { bandit.rank(call.x, call.k, call.actions()); }), call.said);
    EXPECT_EQ(bandit.saved(), before) << call.name;
    EXPECT_EQ(bandit.pending(), 1U) << call.name;
    if (call.k == 1) {
      expect_mentions(message_of([&] { bandit.decide(call.x, call.actions()); }), call.said);
      EXPECT_EQ(bandit.saved(), before) << call.name;
    }
    EXPECT_TRUE(bandit.learn(waiting, 1.0F)) << call.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, RefusedDecision,
                         testing::Values("pi-ts", "lin-ts", "uniform", "feature-ts,action_features=3"),
                         [](const auto& agent) { return plain_name(agent.param); });

TEST(RefusedCall, OfAnUnknownActionIsAnErrorOfPits) {
  const Bandit bandit("uniform", small_setup());
  EXPECT_FALSE(bandit.retired(action_count - 1));
  expect_mentions(message_of([&] { bandit.retired(action_count); }), {"below 4", "not 4"});
}

TEST(RefusedCall, ToFitTeachesNothing) {
  Bandit bandit(small_spec("feature-ts,action_features=3"), small_setup());
  const std::string before = bandit.saved();
  const Matrix<float> contexts(action_count, 3), z = broken_features();
  const std::vector<Action> actions = {0, 1, 2, 3};
  const std::vector<float> rewards(action_count, 1.0F);
  expect_mentions(
      message_of([&] { bandit.fit({.contexts = contexts, .actions = actions, .rewards = rewards, .features = z}); }),
      {"features", "round 2", "finite"});
  EXPECT_EQ(bandit.saved(), before);
}

}  // namespace
}  // namespace pits::test
