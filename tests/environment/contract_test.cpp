// What every problem of the catalogue promises.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "pits/environment/catalogue.h"

namespace pits::test {
namespace {

bool operator==(const Round& a, const Round& b) {
  return a.context == b.context && a.rewards == b.rewards && a.mean_rewards == b.mean_rewards;
}

std::vector<std::string> every_problem() {
  std::vector<std::string> specs;
  for (const EnvironmentEntry& entry : environment_catalogue()) {
    if (entry.presets.empty()) specs.push_back(entry.name);
    for (const Preset& preset : entry.presets) specs.push_back(entry.name + ":" + preset.name);
  }
  return specs;
}

std::unique_ptr<EnvironmentRecipe> recipe_of(const std::string& spec) {
  return find_recipe(environment_catalogue(), "problem", parse_spec(spec));
}

Round round_of(const Environment& environment, std::size_t t) {
  Round round;
  environment.draw(t, round);
  return round;
}

class EveryProblem : public testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<Environment> made(const EnvironmentSetup& setup = {.seed = 1}) {
    return recipe_of(GetParam())->make(setup);
  }
};

TEST_P(EveryProblem, DrawsRoundsOfItsShape) {
  const auto problem = made();
  EXPECT_GE(problem->context_size(), 1U);
  EXPECT_GE(problem->actions(), 2U);
  EXPECT_GE(problem->horizon(), 1U);
  for (std::size_t t = 0; t < 100; ++t) {
    const Round round = round_of(*problem, t);
    ASSERT_EQ(round.context.size(), problem->context_size());
    ASSERT_EQ(round.rewards.size(), problem->actions());
    ASSERT_EQ(round.mean_rewards.size(), problem->actions());
    for (const float x : round.context) EXPECT_TRUE(std::isfinite(x));
    for (const double r : round.rewards) EXPECT_TRUE(std::isfinite(r));
  }
}

// Nothing an agent does can reach a problem: draw is const, takes t alone, and forgets what was drawn before.
TEST_P(EveryProblem, RoundsAreTheSameInWhateverOrderTheyAreAsked) {
  const auto problem = made();
  std::vector<Round> forwards;
  for (std::size_t t = 0; t < 50; ++t) forwards.push_back(round_of(*problem, t));
  Round reused = round_of(*problem, 1999);
  for (std::size_t t = 50; t-- > 0;) {
    problem->draw(t, reused);
    EXPECT_TRUE(reused == forwards[t]) << t;
  }
  const auto again = made();
  EXPECT_TRUE(round_of(*again, 33) == forwards[33]);
}

TEST_P(EveryProblem, RoundsDiffer) {
  const auto problem = made();
  std::set<std::vector<float>> contexts;
  for (std::size_t t = 0; t < 200; ++t) contexts.insert(round_of(*problem, t).context);
  EXPECT_EQ(contexts.size(), 200U);
}

TEST_P(EveryProblem, RealizationsAndSeedsDiffer) {
  const Round base = round_of(*made(), 3);
  for (const EnvironmentSetup& other : {EnvironmentSetup{.seed = 2}, EnvironmentSetup{.seed = 1, .realization = 1}}) {
    const Round round = round_of(*made(other), 3);
    EXPECT_NE(round.context, base.context);
    EXPECT_NE(round.rewards, base.rewards);
  }
}

TEST_P(EveryProblem, SummariesOfARoundAreItsMaximumAndItsMean) {
  const Round round = round_of(*made(), 5);
  double best = -1e300;
  double sum = 0.0;
  for (std::size_t a = 0; a < round.rewards.size(); ++a) {
    best = std::max(best, round.mean_rewards[a]);
    sum += round.rewards[a];
  }
  EXPECT_EQ(round.best_mean(), best);
  EXPECT_NEAR(round.even_reward(), sum / static_cast<double>(round.rewards.size()), 1e-12);
}

TEST_P(EveryProblem, FieldsAreNamedOnceDocumentedAndReadBackWhatTheySay) {
  const auto recipe = recipe_of(GetParam());
  std::set<std::string> names;
  for (const Field& field : recipe->fields().list()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_FALSE(field.doc.empty()) << field.name;
    const std::string before = field.get();
    EXPECT_NO_THROW(field.set(before)) << field.name << '=' << before;
    EXPECT_EQ(field.get(), before) << field.name;
  }
}

std::string plain_name(std::string spec) {
  std::ranges::replace(spec, ':', '_');
  return spec;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryProblem, testing::ValuesIn(every_problem()),
                         [](const auto& problem) { return plain_name(problem.param); });

TEST(EnvironmentCatalogue, HasTheShapesOfTheBenchmark) {
  struct Shape {
    const char* spec;
    std::size_t d, K;
  };
  for (const Shape& s : {Shape{"linear", 10, 8}, Shape{"linear:d20", 20, 8}, Shape{"sparse_linear", 10, 7},
                         Shape{"sparse_linear:d20", 20, 7}, Shape{"wheel", 2, 5}}) {
    const auto problem = recipe_of(s.spec)->make({});
    EXPECT_EQ(problem->context_size(), s.d) << s.spec;
    EXPECT_EQ(problem->actions(), s.K) << s.spec;
  }
}

TEST(EnvironmentCatalogue, RefusesUnknownNamesWithAHint) {
  try {
    recipe_of("liner");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("did you mean 'linear'"), std::string::npos) << e.what();
  }
  EXPECT_THROW(recipe_of("linear:d30"), Error);
  EXPECT_THROW(recipe_of("wheel:d10"), Error);
  EXPECT_THROW(recipe_of("wheel,delta=1.5"), Error);
}

TEST(Round, SummariesByHand) {
  const Round round{.context = {}, .rewards = {1.0, -2.0, 4.0}, .mean_rewards = {0.5, 3.0, 2.0}};
  EXPECT_EQ(round.best_mean(), 3.0);
  EXPECT_EQ(round.even_reward(), 1.0);
}

}  // namespace
}  // namespace pits::test
