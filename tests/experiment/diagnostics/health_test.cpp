// What the observer sees of agents whose particles are known, and that it changes nothing.
#include "pits/experiment/diagnostics/health.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiment/expect_error.h"
#include "experiment/trajectories.h"
#include "pits/experiment/plan.h"

namespace pits::test {
namespace {

// r = x·β_a + N(0, ½²) for each of two actions, x ~ N(0, I) in three dimensions.
class Lines : public Environment {
 public:
  static constexpr double noise_sd = 0.5;
  std::size_t context_size() const override { return 3; }
  std::size_t actions() const override { return 2; }
  void draw(std::size_t t, Round& round) const override {
    Stream stream({.seed = 21, .purpose = Purpose::environment_context, .step = static_cast<std::uint32_t>(t)});
    constexpr double beta[2][3] = {{0.7, -0.4, 0.1}, {-0.2, 0.5, 0.8}};
    round = {.context = std::vector<float>(3), .rewards = {0.0, 0.0}, .mean_rewards = {0.0, 0.0}};
    for (float& x : round.context) x = static_cast<float>(stream.normal());
    for (std::size_t a = 0; a < 2; ++a) {
      for (std::size_t l = 0; l < 3; ++l) round.mean_rewards[a] += beta[a][l] * round.context[l];
      round.rewards[a] = round.mean_rewards[a] + noise_sd * stream.normal();
    }
  }
};

// 1 with probability 1/(1 + e^{−2m}), m as above without noise, else 0.
class Coins : public Lines {
 public:
  void draw(std::size_t t, Round& round) const override {
    Lines::draw(t, round);
    Stream stream({.seed = 22, .purpose = Purpose::environment_reward, .step = static_cast<std::uint32_t>(t)});
    for (std::size_t a = 0; a < 2; ++a) {
      double& p = round.mean_rewards[a];
      p = 1.0 / (1.0 + std::exp(-2.0 * p));
      round.rewards[a] = stream.uniform() < p ? 1.0 : 0.0;
    }
  }
};

std::unique_ptr<Agent> agent_of(const std::string& spec) {
  return find_recipe(agent_catalogue(), "agent", parse_spec(spec))->make({.context_size = 3, .actions = 2, .seed = 5});
}

using Json = nlohmann::ordered_json;

Trajectory watched(Agent& agent, const Environment& environment, std::size_t steps,
                   FeedbackKind feedback = FeedbackKind::played) {
  const Observers observers = make_observers({health_diagnostic()}, {agent, environment, steps});
  return run_rounds(agent, environment, steps, no_report, observers, feedback);
}

Json health_of(const std::string& spec, std::size_t steps, FeedbackKind feedback = FeedbackKind::played) {
  return watched(*agent_of(spec), Lines(), steps, feedback).observed.at("health");
}

// The last number of a series.
double last(const Json& health, const char* name) { return health.at(name).back().get<double>(); }

double covered_by(const Json& health, double level) { return coverage(numbers_in(health.at("pit")), level); }

std::string saved(Agent& agent) {
  Archive archive;
  agent.archive(archive);
  return archive.bytes();
}

class WatchedAgent : public testing::TestWithParam<std::string> {};

TEST_P(WatchedAgent, DecidesAndLearnsAsIfNobodyLooked) {
  const auto plain = agent_of(GetParam()), seen = agent_of(GetParam());
  Trajectory alone = run_rounds(*plain, Lines(), 150, no_report);
  const Trajectory path = watched(*seen, Lines(), 150);
  EXPECT_GE(path.observed["health"]["rounds"].size(), 2U);
  alone.observed = path.observed;
  expect_same(alone, path);
  EXPECT_EQ(saved(*plain), saved(*seen));
}

INSTANTIATE_TEST_SUITE_P(Particles, WatchedAgent,
                         testing::Values("pi-ts,particles=4", "pi-ts:fast", "pi-ts:paper,particles=4",
                                         "pi-ts:released,particles=4",
                                         "pi-ts:paper,flow=spos,optimizer=sgd,step=1e-5,particles=4",
                                         "pi-ts:paper,noise=learned,particles=4,capacity=60",
                                         "pi-ts:exact,discount=0.99,particles=4", "ensemble,particles=4",
                                         "ensemble:auto,particles=4", "lin-ts:auto",
                                         "pi-ts:exact,model=linear,particles=4", "bootstrap",
                                         "ensemble-sampling,particles=4", "weighted-bootstrap,particles=4"),
                         [](const auto& agent) {
                           std::string name = agent.param;
                           std::ranges::replace_if(
                               name, [](unsigned char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

TEST(ParticleHealth, PointsAreTrainingsAndAtMostAHundred) {
  const Json health = health_of("pi-ts:paper,particles=3,hidden=4,batch=8,train_every=5,train_steps=1", 2000);
  const auto rounds = health["rounds"].get<std::vector<std::size_t>>();
  EXPECT_EQ(health["particles"], 3);
  EXPECT_LE(rounds.size(), 100U);
  EXPECT_GT(rounds.size(), 60U);
  EXPECT_EQ(rounds.front(), 10U) << "the first training that has a forecast before it";
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    EXPECT_EQ(rounds[i] % 5, 0U);
    EXPECT_TRUE(i == 0 || rounds[i] > rounds[i - 1]);
  }
  double all = 0.0;
  for (const double share : numbers_in(health["pit"])) all += share;
  EXPECT_NEAR(all, 1.0, 1e-12);
}

// 10·10^(3i/99), rounded, wherever neighbours differ by a round or more: from round 10/(10^(3/99) − 1) < 139 on.
TEST(ParticleHealth, RoundsAreSpacedInLogTime) {
  const std::vector<std::size_t> at = health_rounds(10000);
  for (std::size_t i = 50; i < 100; ++i) {
    const double expected = 10.0 * std::pow(10.0, 3.0 * static_cast<double>(i) / 99.0);
    EXPECT_NEAR(static_cast<double>(at[at.size() - 100 + i]), expected, 0.5) << i;
  }
  for (const std::size_t rounds : {1U, 9U, 10U, 200U, 2000U, 1000000U}) {
    const std::vector<std::size_t> short_list = health_rounds(rounds);
    EXPECT_EQ(short_list.back(), rounds);
    EXPECT_LE(short_list.size(), 100U);
    EXPECT_TRUE(std::ranges::is_sorted(short_list, std::less_equal<>{}));
  }
}

// Only these particles interact.
TEST(ParticleHealth, EnsemblesDoNotRepelAndFlowsDo) {
  const auto repulsion = [](const std::string& spec) { return last(health_of(spec, 120), "repulsion"); };
  for (const char* spec : {"ensemble,particles=4", "bootstrap", "pi-ts:paper,flow=ensemble,particles=4"}) {
    EXPECT_EQ(repulsion(spec), 0.0) << spec;
  }
  for (const char* flow : {"svgd", "dgf", "dgf-released", "blob", "gfsd", "gfsf"}) {
    EXPECT_GT(repulsion("pi-ts:paper,particles=4,flow=" + std::string(flow)), 0.0) << flow;
  }
}

// Linear networks with the noise of the problem that fit perturbed rewards are draws of the exact posterior (Lu and Van
// Roy 2017): rewards fall where they predict them. The bounds are 4.5 standard errors of a share of 2000.
TEST(ParticleHealth, ExactPosteriorsAreCalibratedAndKeepTheirSpread) {
  const Json health = health_of("ensemble-sampling,model=linear,noise_sd=0.5", 2000);
  for (const double level : {0.5, 0.9}) {
    EXPECT_NEAR(covered_by(health, level), level, 4.5 * std::sqrt(level * (1.0 - level) / 2000.0)) << level;
  }
  EXPECT_EQ(collapsed_since(health), 0U);
  for (const double effective : numbers_in(health["effective"])) {
    EXPECT_GE(effective, 2.0 - 1e-9);
    EXPECT_LE(effective, 1.0 + 2 * 4) << "a line an action, of four numbers each, leaves no more directions";
  }
}

// A mixture's particles are its networks: of each the first of its 20 draws. By a plain count of the actions that they
// prefer in the last 100 rounds, after which the agent has trained.
TEST(ParticleHealth, LooksAtEveryNetworkOfAMixture) {
  const auto agent = agent_of("pi-ts");
  const Json health = watched(*agent, Lines(), 193).observed.at("health");
  const Posterior& posterior = dynamic_cast<const PiTs&>(*agent).posterior();
  ASSERT_EQ(posterior.trained_at(), 193U);
  ASSERT_EQ(health["rounds"].back(), 193);
  double disagreement = 0.0;
  Round round;
  for (std::size_t t = 93; t < 193; ++t) {
    Lines().draw(t, round);
    const Matrix<float>& values = posterior.all_values(round.context);
    double second = 0.0;
    for (std::size_t i = 0; i < 5; ++i) second += values(20 * i, 1) > values(20 * i, 0) ? 1.0 : 0.0;
    const double same = second * (second - 1.0) + (5.0 - second) * (4.0 - second);
    disagreement += (1.0 - same / 20.0) / 100.0;
  }
  EXPECT_GT(disagreement, 0.0);
  EXPECT_NEAR(last(health, "disagreement"), disagreement, 1e-12);
}

// The same posterior, of both rewards of every round: 4000 forecasts in 2000 rounds.
TEST(ParticleHealth, LooksAtAllRewardsThatAreLearned) {
  const Json health = health_of("ensemble-sampling,model=linear,noise_sd=0.5", 2000, FeedbackKind::all);
  for (const double level : {0.5, 0.9}) {
    EXPECT_NEAR(covered_by(health, level), level, 4.5 * std::sqrt(level * (1.0 - level) / 4000.0)) << level;
  }
  EXPECT_EQ(health["rounds"].back(), 2000) << "rounds are counted, not rewards";
  EXPECT_EQ(collapsed_since(health), 0U);
}

// The same networks on the same data end at one point, the most probable parameters.
TEST(ParticleHealth, EnsemblesOfALinearModelCollapse) {
  const Json health = health_of("ensemble-sampling,model=linear,noise_sd=0.5", 2000);
  const Json point = health_of("pi-ts:paper,flow=ensemble,model=linear,noise_sd=0.5", 2000);
  EXPECT_GT(collapsed_since(point), 0U);
  EXPECT_LT(last(point, "spread"), 0.1 * last(health, "spread"));
  EXPECT_LT(last(point, "disagreement"), 0.01);
}

// Noise taken for half of what it is: intervals cover as much as N(0, ¼)'s do of N(0, 1), and less by what little the
// particles add. 4.5 standard errors, and the particles' share.
TEST(ParticleHealth, TooLittleNoiseIsSeen) {
  const Json health = health_of("ensemble-sampling,model=linear,noise_sd=0.25", 2000);
  EXPECT_NEAR(covered_by(health, 0.5), 0.264, 4.5 * std::sqrt(0.264 * 0.736 / 2000.0) + 0.02);
  EXPECT_NEAR(covered_by(health, 0.9), 0.589, 4.5 * std::sqrt(0.589 * 0.411 / 2000.0) + 0.02);
}

// The line is σ√(K/t) in units of the rewards' spread; σ is the noise once the lines are learned.
TEST(ParticleHealth, CollapseLineIsThatOfOneNumberAnAction) {
  const Json health = health_of("ensemble-sampling,model=linear,noise_sd=0.5", 2000);
  const auto rounds = health["rounds"].back().get<std::size_t>();
  double sum = 0.0, squares = 0.0;
  Round round;
  const auto agent = agent_of("ensemble-sampling,model=linear,noise_sd=0.5");
  for (std::size_t t = 0; t < rounds; ++t) {
    Lines().draw(t, round);
    const Action a = agent->choose({.x = round.context, .id = t}).action;
    const Feedback event{.x = round.context, .action = a, .reward = static_cast<float>(round.rewards[a]), .id = t};
    agent->learn({&event, 1});
    sum += event.reward;
    squares += event.reward * event.reward;
  }
  const auto n = static_cast<double>(rounds);
  const double reward_sd = std::sqrt(squares / n - sum * sum / (n * n));
  const double expected = Lines::noise_sd * std::sqrt(2.0 / n) / reward_sd;
  EXPECT_NEAR(last(health, "collapse_line"), expected, 4.5 * expected / std::sqrt(2.0 * ParticleHealth::recent));
}

TEST(ParticleHealth, OtherAgentsHaveNoParticlesToLookAt) {
  for (const char* spec : {"lin-ts", "uniform", "neural-greedy", "langevin", "bootstrap-heads", "pi-ts,particles=1"}) {
    EXPECT_EQ(health_diagnostic().make({*agent_of(spec), Lines(), 100}), nullptr) << spec;
  }
}

TEST(ParticleHealth, TooFewTrainingsGiveNoPoints) {
  const Json health = health_of("pi-ts:paper,particles=3", 30);
  EXPECT_EQ(health["particles"], 3);
  EXPECT_TRUE(health["rounds"].empty());
}

// Coins whose sides a logistic model learns: shares of intervals that jump at 1 − p have no more variance than those of
// points, so that 4.5 standard errors of a share of 2000 bound them too.
TEST(ParticleHealth, CoinsFallWhereTheyAreForecast) {
  const auto agent = agent_of("pi-ts:paper,model=logistic,particles=6");
  const Json health = watched(*agent, Coins(), 2000).observed["health"];
  for (const double level : {0.5, 0.9}) {
    EXPECT_NEAR(covered_by(health, level), level, 4.5 * std::sqrt(level * (1.0 - level) / 2000.0)) << level;
  }
}

TEST(ParticleHealth, APlanWithoutParticlesIsRefused) {
  const ExperimentConfig config{.agents = {"lin-ts", "neural-greedy"}, .environments = {"linear"}, .diagnostics = true};
  expect_mentions(message_of([&] { const Plan plan(config); }), {"diagnostics", "particles", "pi-ts"});
}

}  // namespace
}  // namespace pits::test
