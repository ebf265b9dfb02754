// What every problem of the catalogue promises.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "data/have_data.h"
#include "experiment/scratch.h"
#include "pits/environment/catalogue.h"

namespace pits::test {
namespace {

bool operator==(const Round& a, const Round& b) {
  return a.context == b.context && a.rewards == b.rewards && a.mean_rewards == b.mean_rewards && a.allowed == b.allowed;
}

std::vector<std::string> every_problem() {
  std::vector<std::string> specs;
  for (const EnvironmentEntry& entry : environment_catalogue()) {
    if (entry.name == "covertype") continue;  // as statlog, and each test would load it again
    if (entry.presets.empty()) specs.push_back(entry.name);
    for (const Preset& preset : entry.presets) specs.push_back(entry.name + ":" + preset.name);
  }
  return specs;
}

// A file for the problems that take one: 2500 rows, three classes, two rewards.
std::string own_file() {
  static const Scratch scratch;
  const std::filesystem::path file = scratch / "own.csv";
  if (std::filesystem::exists(file)) return file.string();
  std::string text = "x,colour,kind,reward_1,reward_2\n";
  for (int i = 0; i < 2500; ++i) {
    text += fmt::format("{},{},{},{},{}\n", 0.5 * i, i % 7 < 3 ? "red" : "blue", "abc"[i % 3], i % 5, i * i % 11);
  }
  write_bytes(file, text);
  return file.string();
}

std::unique_ptr<EnvironmentRecipe> recipe_of(const std::string& spec) {
  auto recipe = find_recipe(environment_catalogue(), "problem", parse_spec(spec));
  if (recipe->fields().has("file")) recipe->fields().set("file", own_file());
  if (recipe->fields().has("label")) recipe->fields().set("label", "kind");
  return recipe;
}

bool is_data_set(const std::string& name) {
  return std::ranges::find(data_catalogue(), name, &DataSet::name) != data_catalogue().end();
}

Round round_of(const Environment& environment, std::size_t t) {
  Round round;
  environment.draw(t, round);
  return round;
}

class EveryProblem : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (is_data_set(GetParam())) PITS_SKIP_WITHOUT(GetParam());
  }
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

// Addresses of draws have 32 bits for the round; a problem that ends has its own check.
TEST_P(EveryProblem, RoundsDoNotRepeatFromTwoToThe32OnwardsButEnd) {
  const auto problem = made();
  Round round;
  EXPECT_ANY_THROW(problem->draw(std::size_t{1} << 32, round));
}

TEST_P(EveryProblem, RoundsDiffer) {
  const auto problem = made();
  std::set<std::vector<float>> contexts;
  for (std::size_t t = 0; t < 200; ++t) contexts.insert(round_of(*problem, t).context);
  // 200 of mushroom's 8124 rows, drawn with replacement, repeat 2.4 on average; a data set may hold equal rows.
  EXPECT_GE(contexts.size(), is_data_set(GetParam()) ? 185U : 200U);
}

TEST_P(EveryProblem, RealizationsAndSeedsDiffer) {
  const auto base = made();
  for (const EnvironmentSetup& setup : {EnvironmentSetup{.seed = 2}, EnvironmentSetup{.seed = 1, .realization = 1}}) {
    const auto other = made(setup);
    std::size_t same_contexts = 0, same_rewards = 0;
    for (std::size_t t = 0; t < 50; ++t) {
      same_contexts += round_of(*other, t).context == round_of(*base, t).context ? 1 : 0;
      same_rewards += round_of(*other, t).rewards == round_of(*base, t).rewards ? 1 : 0;
    }
    EXPECT_LE(same_contexts, 5U);
    EXPECT_LT(same_rewards, 50U) << "classes may be the same, but not all";
  }
}

TEST_P(EveryProblem, SummariesOfARoundAreTheMaximumAndTheMeanOfWhatIsAllowed) {
  const auto problem = made();
  const Round round = round_of(*problem, 5);
  EXPECT_TRUE(round.allowed.empty() || problem->masks_actions());
  double best = -1e300, sum = 0.0, count = 0.0;
  for (std::size_t a = 0; a < round.rewards.size(); ++a) {
    if (!round.allowed.empty() && round.allowed[a] == 0) continue;
    best = std::max(best, round.mean_rewards[a]);
    sum += round.rewards[a];
    ++count;
  }
  EXPECT_EQ(round.best_mean(), best);
  EXPECT_NEAR(round.even(round.rewards), sum / count, 1e-12);
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
  for (const Shape& s :
       {Shape{"linear", 10, 8}, Shape{"linear:d20", 20, 8}, Shape{"sparse_linear", 10, 7},
        Shape{"sparse_linear:d20", 20, 7}, Shape{"wheel", 2, 5}, Shape{"mushroom", 117, 2}, Shape{"statlog", 9, 7},
        Shape{"covertype", 54, 7}, Shape{"adult", 94, 14}, Shape{"financial", 21, 8}, Shape{"jester", 32, 8}}) {
    if (is_data_set(s.spec) && !have_data(s.spec)) continue;
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
  EXPECT_EQ(round.even(round.rewards), 1.0);
}

TEST(Round, LeavesOutWhatIsNotAllowed) {
  const Round round{.context = {}, .rewards = {1.0, -2.0, 4.0}, .mean_rewards = {0.5, 3.0, 2.0}, .allowed = {1, 0, 1}};
  EXPECT_EQ(round.best_mean(), 2.0);
  EXPECT_EQ(round.even(round.rewards), 2.5);
  EXPECT_EQ(round.even(round.mean_rewards), 1.25);
}

}  // namespace
}  // namespace pits::test
