// Delays, batches and masks in the loop, against plain loops.
#include <gtest/gtest.h>

#include <set>

#include "experiment/expect_error.h"
#include "experiment/tables.h"
#include "pits/agent/catalogue.h"
#include "pits/environment/catalogue.h"
#include "pits/experiment/loop.h"

namespace pits {
namespace {

using test::ScriptedAgent;
using test::TableEnvironment;

std::vector<Round> numbered_rounds(std::size_t n) {
  std::vector<Round> rounds;
  for (std::size_t t = 0; t < n; ++t) {
    const auto r = static_cast<double>(t);
    rounds.push_back({.context = {static_cast<float>(t)}, .rewards = {r, r + 0.5}, .mean_rewards = {r + 1.0, r}});
  }
  return rounds;
}

// Remembers how many rewards it had learned at each decision, and the size of each batch.
class Counting final : public Cloned<Counting> {
 public:
  struct Log {
    std::vector<std::uint64_t> learned;  // before decision t
    std::vector<DecisionId> order;
  };
  explicit Counting(Log& log) : Cloned(AgentSetup{.context_size = 1, .actions = 2}), log_(&log) {}

 private:
  Action decide(const Query& query, Stream&, ActionProbabilities*) const override {
    log_->learned.push_back(events());
    return static_cast<Action>(query.id % 2);
  }
  void observe(const Feedback& e) override {
    EXPECT_EQ(e.x[0], static_cast<float>(e.id));
    EXPECT_EQ(e.action, e.id % 2);
    EXPECT_EQ(e.reward, static_cast<float>(e.id) + 0.5F * static_cast<float>(e.id % 2));
    log_->order.push_back(e.id);
  }
  void state(Archive&) override {}

  Log* log_;
};

// Reward i is there once decision i + delay was made; a batch is learned as soon as it is complete.
TEST(LateRewards, ComeInOrderWhenTheyAreDue) {
  constexpr std::size_t n = 97;
  for (const int delay : {0, 1, 7, 96, 97, 500}) {
    for (const int batch : {1, 2, 10, 97, 98}) {
      Counting::Log log;
      Counting agent(log);
      run_rounds(agent, TableEnvironment(numbered_rounds(n), {.delay = delay, .batch = batch}), n);
      const auto learned_after = [&](int decisions) { return std::max(0, decisions - delay) / batch * batch; };
      ASSERT_EQ(log.learned.size(), n);
      for (int t = 0; t < static_cast<int>(n); ++t) {
        EXPECT_EQ(log.learned[static_cast<std::size_t>(t)], learned_after(t)) << delay << ' ' << batch << ' ' << t;
      }
      ASSERT_EQ(log.order.size(), learned_after(n));
      for (std::size_t i = 0; i < log.order.size(); ++i) EXPECT_EQ(log.order[i], i);
    }
  }
}

// A run of an agent that learns and draws: the same actions as a loop that keeps every round.
TEST(LateRewards, AgreeWithAPlainLoopThatKeepsAllRounds) {
  const auto problem =
      find_recipe(environment_catalogue(), "environment", parse_spec("click:frequent,delay=13,batch=5,appears=60"))
          ->make({.seed = 3});
  const auto make = [&] {
    return find_recipe(agent_catalogue(), "agent", parse_spec("lin-ts"))
        ->make({.context_size = problem->context_size(), .actions = problem->actions(), .seed = 3});
  };
  constexpr std::size_t n = 200;
  const auto agent = make(), plain = make();
  const Trajectory path = run_rounds(
      *agent, *problem, n, [](std::size_t) {}, {}, FeedbackKind::played, RegretOf::means);

  std::vector<Round> rounds(n);
  std::vector<Action> played;
  std::vector<std::uint64_t> pulls(problem->actions());
  double regret = 0.0;
  for (std::size_t t = 0; t < n; ++t) {
    problem->draw(t, rounds[t]);
    const Round& now = rounds[t];
    const std::size_t allowed = t < 60 ? 4 : 5;
    std::vector<std::uint8_t> mask(5, 1);
    mask[4] = t < 60 ? 0 : 1;
    played.push_back(plain->choose({.x = now.context, .actions = {.allowed = mask}, .id = t}).action);
    ++pulls[played[t]];
    regret += *std::max_element(now.mean_rewards.begin(), now.mean_rewards.begin() + static_cast<int>(allowed)) -
              now.mean_rewards[played[t]];
    if (t < 13 || (t - 13) % 5 != 4) continue;
    for (std::size_t i = t - 17; i <= t - 13; ++i) {
      const Feedback event{.x = rounds[i].context,
                           .action = played[i],
                           .reward = static_cast<float>(rounds[i].rewards[played[i]]),
                           .id = i};
      plain->learn({&event, 1});
    }
  }
  EXPECT_EQ(path.pulls, pulls);
  EXPECT_DOUBLE_EQ(path.regret, regret);
}

TEST(LateRewards, FullInformationIsLateAsWell) {
  ScriptedAgent agent({0, 1, 0, 1}, 1, 2);
  run_rounds(
      agent, TableEnvironment(numbered_rounds(4), {.delay = 1, .batch = 2}), 4, [](std::size_t) {}, {},
      FeedbackKind::all);
  const std::vector<ScriptedAgent::Told> expected = {
      {{0.0F}, 0, 0.0F, 0}, {{0.0F}, 1, 0.5F, 0}, {{1.0F}, 0, 1.0F, 1}, {{1.0F}, 1, 1.5F, 1}};
  EXPECT_EQ(agent.told(), expected);
}

// What observers are called with, as "b<id>" and "a<id>".
class Recorder final : public Observer {
 public:
  explicit Recorder(std::vector<std::string>& calls) : calls_(calls) {}
  void before_learning(std::span<const Feedback> events) override { add("b", events); }
  void after_learning(std::span<const Feedback> events) override { add("a", events); }
  nlohmann::ordered_json finish() override { return nlohmann::ordered_json::object(); }

 private:
  void add(const char* when, std::span<const Feedback> events) {
    ASSERT_EQ(events.size(), 1U);
    calls_.push_back(when + std::to_string(events.front().id));
  }
  std::vector<std::string>& calls_;
};

TEST(LateRewards, ObserversSeeTheRoundsOfABatchOneByOne) {
  std::vector<std::string> calls;
  Observers observers;
  observers.push_back(std::make_unique<Recorder>(calls));
  ScriptedAgent agent({0, 0, 0, 0, 0}, 1, 2);
  run_rounds(
      agent, TableEnvironment(numbered_rounds(5), {.delay = 1, .batch = 2}), 5, [](std::size_t) {}, observers);
  EXPECT_EQ(calls, (std::vector<std::string>{"b0", "b1", "a0", "a1", "b2", "b3", "a2", "a3"}));
}

TEST(Masks, ReachTheAgentAndTheRegret) {
  std::vector<Round> rounds = numbered_rounds(2);
  rounds[0].allowed = {0, 1};
  ScriptedAgent agent({1, 0}, 1, 2);
  const Trajectory path = run_rounds(agent, TableEnvironment(rounds), 2);
  EXPECT_EQ(path.regret, (0.0 - 0.5) + (2.0 - 1.0));
  EXPECT_EQ(path.uniform_regret, (0.0 - 0.5) + (2.0 - 1.25));
  ScriptedAgent informed({1, 0}, 1, 2);
  run_rounds(
      informed, TableEnvironment(rounds), 2, [](std::size_t) {}, {}, FeedbackKind::all);
  EXPECT_EQ(informed.told().size(), 3U) << "nothing is told of an action that is not allowed";
}

TEST(Masks, AnAgentThatIgnoresThemIsAnError) {
  std::vector<Round> rounds = numbered_rounds(2);
  rounds[0].allowed = {0, 1};
  ScriptedAgent agent({0, 0}, 1, 2);
  const auto run = [&] { run_rounds(agent, TableEnvironment(rounds), 2); };
  test::expect_mentions(test::message_of(run, ErrorKind::failed), {"action 0", "not allowed"});
}

TEST(RegretOfMeans, CountsMeansAndNotRewards) {
  ScriptedAgent agent({1, 0}, 1, 2);
  const Trajectory path = run_rounds(
      agent, TableEnvironment(numbered_rounds(2)), 2, [](std::size_t) {}, {}, FeedbackKind::played, RegretOf::means);
  EXPECT_EQ(path.regret, 1.0);          // 1 − 0, 2 − 2
  EXPECT_EQ(path.uniform_regret, 1.0);  // 1 − 0.5, 2 − 1.5
}

}  // namespace
}  // namespace pits
