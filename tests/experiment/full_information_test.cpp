// What agents learn where every action's reward is revealed, and what it is worth.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/play.h"
#include "experiment/expect_error.h"
#include "experiment/tables.h"
#include "experiment/trajectories.h"
#include "pits/core/parallel.h"
#include "pits/experiment/run_cell.h"
#include "pits/experiment/summary.h"

namespace pits::test {
namespace {

const std::vector<Round> two_rounds = {
    {.context = {1.0F, 2.0F}, .rewards = {1.0, 0.0, 4.0}, .mean_rewards = {0.5, 0.25, 3.0}},
    {.context = {3.0F, 4.0F}, .rewards = {2.0, 1.0, -1.0}, .mean_rewards = {3.0, 1.0, 0.0}},
};

// Writes down what it is asked and told, call by call.
class Diarist final : public Cloned<Diarist> {
 public:
  Diarist() : Cloned(AgentSetup{.context_size = 2, .actions = 3}) {}
  const std::vector<std::string>& diary() const { return diary_; }

 private:
  Action decide(const Query& query, Stream&, ActionProbabilities*) const override {
    diary_.push_back(fmt::format("choose {} at {}", query.id, query.x));
    return 1;
  }
  void observe(const Feedback& e) override {
    diary_.push_back(fmt::format("{} at {}: {} paid {}", e.id, e.x, e.action, e.reward));
  }
  void state(Archive&) override {}

  mutable std::vector<std::string> diary_;
};

TEST(FullInformation, IsEveryRewardInOrderAfterTheChoice) {
  Diarist agent;
  run_rounds(agent, TableEnvironment(two_rounds), 2, no_report, {}, FeedbackKind::all);
  EXPECT_EQ(agent.diary(),
            (std::vector<std::string>{"choose 0 at [1, 2]", "0 at [1, 2]: 0 paid 1", "0 at [1, 2]: 1 paid 0",
                                      "0 at [1, 2]: 2 paid 4", "choose 1 at [3, 4]", "1 at [3, 4]: 0 paid 2",
                                      "1 at [3, 4]: 1 paid 1", "1 at [3, 4]: 2 paid -1"}));
}

TEST(FullInformation, CountsTheRegretOfTheActionChosen) {
  ScriptedAgent bandit({1, 2}), informed({1, 2});
  const Trajectory path = run_rounds(informed, TableEnvironment(two_rounds), 2, no_report, {}, FeedbackKind::all);
  expect_same(path, run_rounds(bandit, TableEnvironment(two_rounds), 2));
  EXPECT_EQ(path.curve, (std::vector<double>{3.0, 7.0}));  // 3 − 0, then 3 + 1
  EXPECT_EQ(path.pulls, (std::vector<std::uint64_t>{0, 1, 1}));
}

TEST(FullInformation, DoesNotDependOnWhatWasPlayed) {
  ScriptedAgent one({0, 2}), other({1, 1});
  for (ScriptedAgent* agent : {&one, &other}) {
    run_rounds(*agent, TableEnvironment(two_rounds), 2, no_report, {}, FeedbackKind::all);
  }
  EXPECT_EQ(one.told(), other.told());
}

class Listener final : public Observer {
 public:
  void before_learning(std::span<const Feedback> events) override { note(events, before); }
  void after_learning(std::span<const Feedback> events) override { note(events, after); }
  nlohmann::ordered_json finish() override { return {{"heard", after.size()}}; }

  std::vector<ScriptedAgent::Told> before, after;

 private:
  static void note(std::span<const Feedback> events, std::vector<ScriptedAgent::Told>& list) {
    for (const Feedback& e : events) list.push_back({{e.x.begin(), e.x.end()}, e.action, e.reward, e.id});
  }
};

TEST(FullInformation, IsAlsoWhatObserversSee) {
  ScriptedAgent agent({1, 2});
  Observers observers;
  observers.push_back(std::make_unique<Listener>());
  const Trajectory path = run_rounds(agent, TableEnvironment(two_rounds), 2, no_report, observers, FeedbackKind::all);
  const auto& listener = dynamic_cast<const Listener&>(*observers.front());
  EXPECT_EQ(listener.before, agent.told());
  EXPECT_EQ(listener.after, agent.told());
  EXPECT_EQ(path.observed, (nlohmann::ordered_json{{"heard", 6}}));
}

// Rewards in 0..1, which every agent admits.
std::vector<Round> rounds_for_all(std::size_t n) {
  std::vector<Round> rounds;
  for (const Event& e : random_events(n, 9)) {
    Round round{.context = e.x, .rewards = {}, .mean_rewards = {}};
    for (std::size_t a = 0; a < action_count; ++a) round.rewards.push_back(e.x[a % context_size] > 0.0F ? 1.0 : 0.125);
    round.mean_rewards = round.rewards;
    rounds.push_back(round);
  }
  return rounds;
}

std::string saved(Agent& agent) {
  Archive archive;
  agent.archive(archive);
  return archive.bytes();
}

class InformedAgent : public testing::TestWithParam<std::string> {};

// The plain loop, in which every event stands alone. The newest id whose reward is known is part of what is learned.
TEST_P(InformedAgent, LearnsAsFromAsManyRoundsOfItsOwn) {
  const std::vector<Round> rounds = rounds_for_all(20);
  const auto agent = small_agent(GetParam(), small_setup()), plain = small_agent(GetParam(), small_setup());
  const Trajectory path = run_rounds(*agent, TableEnvironment(rounds), 20, no_report, {}, FeedbackKind::all);
  double regret = 0.0;
  for (std::size_t t = 0; t < rounds.size(); ++t) {
    const std::vector<double>& r = rounds[t].rewards;
    regret += std::ranges::max(r) - r[plain->choose({.x = rounds[t].context, .id = t}).action];
    for (Action a = 0; a < action_count; ++a) {
      const Feedback event{.x = rounds[t].context, .action = a, .reward = static_cast<float>(r[a]), .id = t};
      plain->learn({&event, 1});
    }
  }
  EXPECT_EQ(path.regret, regret);
  EXPECT_EQ(saved(*agent), saved(*plain));
}

INSTANTIATE_TEST_SUITE_P(Catalogue, InformedAgent, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });

std::vector<Trajectory> paths(const std::string& agent, FeedbackKind feedback, std::int64_t realizations) {
  const Plan plan({.agents = {agent},
                   .environments = {"linear"},
                   .steps = 300,
                   .realizations = realizations,
                   .seed = 6,
                   .feedback = feedback});
  std::vector<Trajectory> all(plan.cells());
  parallel_for(plan.cells(), [&](std::size_t i) { all[i] = run_cell(plan, plan.cell(i), no_report); });
  return all;
}

TEST(FullInformation, IsNothingToAgentsThatDoNotLearn) {
  for (const char* agent : {"uniform", "fixed"}) {
    const std::vector<Trajectory> bandit = paths(agent, FeedbackKind::played, 3),
                                  informed = paths(agent, FeedbackKind::all, 3);
    for (std::size_t i = 0; i < bandit.size(); ++i) expect_same(informed[i], bandit[i]);
  }
}

// Paired by realization: the same rounds.
TEST(FullInformation, LowersTheRegretOfAgentsThatLearn) {
  for (const char* agent : {"lin-ts", "lin-ts,initial_pulls=0", "lin-ucb", "epsilon-greedy"}) {
    const std::vector<Trajectory> bandit = paths(agent, FeedbackKind::played, 12),
                                  informed = paths(agent, FeedbackKind::all, 12);
    std::vector<double> saved_regret;
    for (std::size_t i = 0; i < bandit.size(); ++i) {
      ASSERT_EQ(bandit[i].uniform_regret, informed[i].uniform_regret) << "not the same rounds";
      saved_regret.push_back(bandit[i].regret - informed[i].regret);
    }
    const Statistics s = statistics(saved_regret);
    EXPECT_GT(s.mean, 3.5 * s.se) << agent << ": " << s.mean << " ± " << s.se;
    RecordProperty(agent, fmt::format("{:.2f} ± {:.2f}", s.mean, s.se));
  }
}

TEST(FullInformation, IsAskedForByName) {
  ExperimentConfig config{.agents = {"lin-ts"}, .environments = {"linear"}};
  EXPECT_EQ(Plan(config).feedback(), FeedbackKind::played);
  config.feedback = FeedbackKind::all;
  EXPECT_EQ(Plan(config).feedback(), FeedbackKind::all);
  expect_mentions(message_of([&] { fields(config).set("feedback", "al"); }),
                  {"feedback", "'al'", "did you mean 'all'", "played"});
}

}  // namespace
}  // namespace pits::test
