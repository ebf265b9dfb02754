// Trainings beside the rewards: the state is a function of where they began and where they were adopted.
#include "pits/agent/training_beside.h"

#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "log/service.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

// A log written by hand: outcomes of random rounds, one by one.
struct Script {
  Service service;
  std::unique_ptr<Ledger> ledger;
  std::vector<Event> rounds = random_events(200, 11);
  DecisionId first = 0, next = 0;

  explicit Script(const std::string& agent) : service(live_setup(agent)) {
    service.live.reset();
    ledger = std::make_unique<Ledger>(*service.store, service.clock);
    first = next = ledger->reserved_ids();
    write([&](Ledger& l) { l.reserve_ids(next + 10'000); });
  }
  template <class Call>
  void write(Call&& call) {
    ledger->begin_group();
    call(*ledger);
    ledger->commit();
  }
  Action action(std::size_t round) const { return rounds[round].action; }
  void outcome(std::size_t round) {
    Decided decided;
    decided.id = next++;
    decided.x = rounds[round].x;
    decided.action = action(round);
    decided.propensities.assign(action_count, 0.25F);
    write([&](Ledger& l) {
      l.decide(decided);
      EXPECT_EQ(l.reward({decided.id, rounds[round].reward}), Answer::accepted);
    });
  }
  EventNumber began() {
    write([](Ledger& l) { l.record(TrainingBegan{}); });
    return ledger->last();
  }
  void adopted(EventNumber number) {
    write([&](Ledger& l) { l.record(TrainingAdopted{.began = number, .problem = ""}); });
  }
  Feedback feedback(std::size_t round) const {
    return {.x = rounds[round].x, .action = action(round), .reward = rounds[round].reward, .id = first + round};
  }
  Learner learner() const {
    Learner learner(*service.store);
    learner.follow(service.store->last());
    return learner;
  }
};

std::string state_of(const Agent& agent) {
  Archive archive;
  const_cast<Agent&>(agent).archive(archive);  // a writing archive changes nothing
  return archive.bytes();
}

std::unique_ptr<Agent> fresh_agent(const std::string& spec) {
  AgentSetup setup = small_setup();
  setup.floor = LiveConfig{}.floor;
  return find_recipe(agent_catalogue(), "agent", parse_spec(small_spec(spec)))->make(setup);
}

class TrainingBesideRewards : public testing::TestWithParam<std::string> {};

// Against a plain loop: a copy at the beginning, trained, then everything that came since, an added action included.
TEST_P(TrainingBesideRewards, IsACopyThatLearnsWhatCameSince) {
  Script script(GetParam());
  auto plain = fresh_agent(GetParam());
  plain->train_beside();
  std::unique_ptr<Agent> copy;
  EventNumber began = 0;
  const auto both = [&](std::size_t round) {
    script.outcome(round);
    for (Agent* agent : {plain.get(), copy.get()}) {
      const Feedback event = script.feedback(round);
      if (agent != nullptr) agent->learn({&event, 1});
    }
  };
  for (std::size_t t = 0; t < 100; ++t) {
    if (t == 20 || t == 50 || t == 80) {
      began = script.began();
      copy = plain->clone();
      copy->train();
    }
    if (t == 60 && GetParam() != "fixed") {
      script.write([](Ledger& l) { l.add_actions({"new"}); });
      for (Agent* agent : {plain.get(), copy.get()}) agent->add_actions(1);
    }
    if (t == 33 || t == 73) {
      EXPECT_TRUE(state_of(script.learner().bandit().agent()) == state_of(*plain)) << t;
      script.adopted(began);
      plain = std::move(copy);
    }
    both(t);
  }
  Learner learner = script.learner();
  EXPECT_TRUE(state_of(learner.bandit().agent()) == state_of(*plain));
  EXPECT_NE(learner.training(), nullptr);  // the last one is under way
  EXPECT_EQ(learner.training_began(), began);
  EXPECT_EQ(check_log(*script.service.store).trainings, 2U);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, TrainingBesideRewards, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });

// Adopted before the next outcome, it is the training in line. (With last_layer=exact the last layers have learned one
// observation more when the training begins.)
class AdoptedAtOnce : public testing::TestWithParam<std::string> {};

TEST_P(AdoptedAtOnce, IsTheTrainingInLine) {
  Script script(GetParam());
  auto in_line = fresh_agent(GetParam());
  int trainings = 0;
  for (std::size_t t = 0; t < 100; ++t) {
    const Feedback event = script.feedback(t);
    in_line->learn({&event, 1});
    script.outcome(t);
    if (!script.learner().training_due()) continue;
    script.adopted(script.began());
    ++trainings;
  }
  EXPECT_GT(trainings, 5);
  EXPECT_TRUE(state_of(script.learner().bandit().agent()) == state_of(*in_line));
}

INSTANTIATE_TEST_SUITE_P(Agents, AdoptedAtOnce,
                         testing::Values("pi-ts", "pi-ts:released", "vi-ts", "bootstrap-heads", "boltzmann", "dropout",
                                         "parameter-noise", "neural-ts", "neural-logistic", "feature-ts"),
                         [](const auto& agent) { return plain_name(agent.param); });

// A log that ends while a training runs: the training starts again where it began and is adopted.
TEST(TrainingBeside, ThatWasCutStartsAgainWhereItBegan) {
  Script script("pi-ts");
  for (std::size_t t = 0; t < 30; ++t) script.outcome(t);
  const EventNumber began = script.began();
  auto expected = script.learner().bandit().agent().clone();
  expected->train();
  for (std::size_t t = 30; t < 34; ++t) {
    script.outcome(t);
    const Feedback event = script.feedback(t);
    expected->learn({&event, 1});
  }
  script.ledger.reset();
  script.service.open();
  const std::string state = script.service.live->saved();
  const auto adopted = all_of<TrainingAdopted>(*script.service.store);
  ASSERT_GE(adopted.size(), 1U);
  EXPECT_EQ(adopted[0].began, began);
  if (adopted.size() == 1) {
    EXPECT_TRUE(agent_state(Bandit::from_saved(state, "live")) == state_of(*expected));
  }
  EXPECT_TRUE(script.service.replayed() == state);
}

TEST(TrainingBeside, ThatWasSkippedChangesNothing) {
  Script script("pi-ts");
  for (std::size_t t = 0; t < 30; ++t) script.outcome(t);
  const EventNumber began = script.began();
  script.outcome(30);
  const std::string before = script.learner().saved();
  script.write([](Ledger& l) { l.record(TrainingSkipped{.began = 0, .reason = "lag"}); });
  EXPECT_NE(script.learner().training(), nullptr);
  script.write([&](Ledger& l) { l.record(TrainingSkipped{.began = began, .reason = "closed"}); });
  EXPECT_EQ(script.learner().training(), nullptr);
  EXPECT_TRUE(script.learner().saved() == before);
  EXPECT_NO_THROW(check_log(*script.service.store));
  script.adopted(began);
  expect_mentions(message_of([&] { check_log(*script.service.store); }), {"no training has begun"});
  expect_mentions(message_of([&] { script.learner(); }), {"did not begin"});
}

// One that diverges moves nothing, and the next is due an interval later.
TEST(TrainingBeside, ThatFailsMovesNothing) {
  auto agent = fresh_agent("pi-ts:released,step=1e30");
  agent->train_beside();
  const std::vector<Event> rounds = random_events(40, 2);
  learn_all(*agent, rounds);
  ASSERT_TRUE(agent->training_due());
  TrainingBeside training(*agent);
  training.train();
  expect_mentions(training.problem(), {"diverged"});
  training.learned({.x = rounds[0].x, .action = 0, .reward = 0.5F});
  const auto trained = training.finish();
  EXPECT_FALSE(trained->training_due());
  EXPECT_EQ(trained->events(), agent->events() + 1);
  for (const Event& e : rounds) {
    std::vector<double> a(action_count), b(action_count);
    agent->draw_rewards(e.x, 0, a);
    trained->draw_rewards(e.x, 0, b);
    EXPECT_EQ(a, b);
  }
}

// One group of rewards is more than the learner may be behind: the training that is due after its first piece is
// skipped, said once, and begins when the rest is learned. No outcome is lost.
TEST(TrainingBeside, IsSkippedWhileLearningLags) {
  Service service(live_setup("pi-ts"));
  service.open({.training_lag = 100});
  std::vector<Reward> rewards;
  for (const Event& e : random_events(600, 5)) rewards.push_back({service.live->decide(e.x).id, e.reward});
  service.live->flush();
  service.live->catch_up();
  const EventNumber before = service.store->last();
  EXPECT_TRUE(all_of<TrainingSkipped>(*service.store).empty());
  service.live->reward(rewards);  // one group of 1,200 events, learned in pieces of 256
  const std::string state = service.live->saved();
  const auto skipped = all_of<TrainingSkipped>(*service.store);
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_EQ(skipped[0].began, 0U);
  EXPECT_EQ(skipped[0].reason, fmt::format("learning is {} events behind", 1200 - 256));
  const auto began = all_of<TrainingBegan>(*service.store);
  ASSERT_FALSE(began.empty());
  EXPECT_GE(began[0].observations, 512U) << "1,024 events, two per outcome, are learned before the lag is below 200";
  const std::vector<pits::Event> events = events_of(*service.store);
  EXPECT_TRUE(std::holds_alternative<TrainingSkipped>(events.at(before + 1200)));
  EXPECT_EQ(all_of<Settled>(*service.store).size(), 600U);
  EXPECT_EQ(service.live->status().refused, 0U);
  EXPECT_TRUE(service.replayed() == state);
  check_log(*service.store);
}

// Under load every decision can be made again, with trainings that come and go, and what was kept leads to the same.
TEST(TrainingBeside, RunsWhileRewardsCome) {
  Service service(live_setup("pi-ts"));
  for (int start = 0; start < 3; ++start) {
    std::vector<std::thread> clients;
    for (int c = 0; c < 4; ++c) {
      clients.emplace_back([&, c] {
        for (const Event& e : random_events(150, static_cast<std::uint64_t>(10 * start + c))) {
          service.live->reward({service.live->decide(e.x).id, e.reward});
        }
      });
    }
    for (std::thread& client : clients) client.join();
    if (start == 1) service.live->saved();  // else it is closed while a training may run
    service.open();
  }
  const std::string state = service.live->saved();  // no training is under way from here on
  EXPECT_TRUE(state == service.replayed());
  EXPECT_GT(check_log(*service.store).trainings, 0U);
  const Verification found = verify_log(*service.store);
  EXPECT_EQ(found.same, 3U * 4 * 150);
  for (const Snapshot& snapshot : service.store->snapshots()) {
    Learner learner(*service.store, service.store->snapshot(snapshot.number));
    learner.follow(service.store->last());
    EXPECT_TRUE(learner.saved() == state);
  }
}

// Snapshots are a cache: where they cannot be kept, learning and trainings go on, and the status says so.
TEST(TrainingBeside, GoesOnWhereSnapshotsCannotBeKept) {
  Service service(live_setup("pi-ts:fast"));
  service.store->fails_to_keep = true;
  std::uint64_t trainings = 0;
  for (std::uint64_t seed = 1; seed < 30 && (trainings < 3 || service.store->last() < 3000); ++seed) {
    for (const Event& e : random_events(100, seed)) service.live->reward({service.live->decide(e.x).id, e.reward});
    service.live->saved();
    trainings = service.live->status().trainings;
  }
  EXPECT_GE(trainings, 3U);
  const LiveStatus status = service.live->status();
  EXPECT_EQ(status.learned, status.committed);
  expect_mentions(status.problem, {"memory of snapshots"});
  EXPECT_TRUE(service.store->snapshots().empty());
  const std::string state = service.live->saved();
  EXPECT_TRUE(service.replayed() == state);
}

}  // namespace
}  // namespace pits::test
