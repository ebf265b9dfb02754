// A live bandit: decisions and rewards on many threads, a log of all of it, and a state that the log gives again.
// Run under tsan too: PRESET=tsan scripts/test -R Live
#include "pits/log/live_bandit.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "log/service.h"
#include "pits/log/audit.h"
#include "pits/log/sqlite_store.h"

namespace pits::test {
namespace {

const std::vector<float> x0 = {0.3F, -1.0F, 0.5F};

class LiveAgent : public testing::TestWithParam<std::string> {};

// On one thread, with every reward learned before the next decision and trained in line, it is the plain bandit, bit
// for bit.
TEST_P(LiveAgent, DecidesAsTheBanditDoes) {
  const LiveConfig config{
      .floor = 0.1, .propensity_draws = 20, .rewards = RewardRule::first, .training = TrainingPlace::in_line};
  Bandit plain(small_spec(GetParam()), small_setup(),
               {.floor = 0.1, .propensity = PropensityKind::none, .propensity_draws = 20});
  Service service(live_setup(GetParam(), config));
  const std::vector<Event> rounds = random_events(60, 4);
  std::vector<float> p(action_count);
  for (DecisionId t = 0; t < rounds.size(); ++t) {
    Action action = 0;  // the decision counts as one more draw where probabilities are estimated
    plain.agent().propensities({.x = rounds[t].x, .id = t}, 20, p, 0, &action);
    const Choice expected = plain.decide(rounds[t].x);
    const Choice choice = service.live->decide(rounds[t].x);
    ASSERT_EQ(choice.action, expected.action);
    ASSERT_EQ(choice.action, action);
    ASSERT_EQ(choice.id, t);
    ASSERT_EQ(choice.propensity, p[choice.action]);
    plain.learn(t, rounds[t].reward);
    ASSERT_EQ(service.live->reward({t, rounds[t].reward}), Answer::accepted);
    service.live->catch_up();
  }
  EXPECT_EQ(agent_state(Bandit::from_saved(service.live->saved(), "live")), agent_state(plain));
  EXPECT_EQ(service.replayed(), service.live->saved());
  const auto decided = all_of<Decided>(*service.store);
  ASSERT_EQ(decided.size(), rounds.size());
  for (const Decided& d : decided) {
    double sum = 0.0;
    for (const float q : d.propensities) {
      EXPECT_GE(q, 0.1F / action_count * 0.999F);
      sum += q;
    }
    EXPECT_NEAR(sum, 1.0, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, LiveAgent, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });

// Also where a few simulated draws have never taken it, and nothing is left to chance.
class EstimatedAgent : public testing::TestWithParam<std::string> {};

TEST_P(EstimatedAgent, WhatItTakesHasAProbability) {
  const LiveConfig config{.floor = 0.0, .propensity_draws = 2, .rewards = RewardRule::first};
  Service service(live_setup(GetParam(), config));
  for (const Event& e : random_events(60, 4)) service.live->reward({service.live->decide(e.x).id, e.reward});
  service.live->catch_up();
  std::set<float> seen;
  for (const Event& e : random_events(200, 5)) seen.insert(service.live->decide(e.x).propensity.value());
  service.live->flush();
  for (const float p : seen) EXPECT_TRUE(p == 1.0F / 3.0F || p == 2.0F / 3.0F || p == 1.0F) << p;
  for (const Decided& d : all_of<Decided>(*service.store)) {
    EXPECT_GT(d.propensities[d.action], 0.0F) << d.id;
    EXPECT_NEAR(std::accumulate(d.propensities.begin(), d.propensities.end(), 0.0), 1.0, 1e-6);
  }
  service.live->saved();
  EXPECT_EQ(verify_log(*service.store).same, 260U);
}

INSTANTIATE_TEST_SUITE_P(Agents, EstimatedAgent,
                         testing::Values("bernoulli-ts", "vi-ts", "dropout", "parameter-noise",
                                         "boltzmann,gumbel=true"),
                         [](const auto& agent) { return plain_name(agent.param); });

// Seven threads decide and reward while an action comes and another one goes; with new starts in between.
class LiveUnderLoad : public testing::TestWithParam<std::string> {};

TEST_P(LiveUnderLoad, LosesNothingAndGivesEveryIdOnce) {
  constexpr int threads = 7, each = 150, starts = 3;
  Service service(live_setup(GetParam()));
  std::set<DecisionId> ids;
  for (int start = 0; start < starts; ++start) {
    std::mutex lock;  // of the test's own set
    std::vector<std::thread> clients;
    for (int c = 0; c < threads; ++c) {
      clients.emplace_back([&, c] {
        for (const Event& e : random_events(each, static_cast<std::uint64_t>(c))) {
          const Choice choice = service.live->decide(e.x);
          EXPECT_EQ(service.live->reward({choice.id, e.reward, "r"}), Answer::accepted);
          EXPECT_EQ(service.live->reward({choice.id, e.reward, "r"}), Answer::duplicate);
          const std::scoped_lock guard(lock);
          EXPECT_TRUE(ids.insert(choice.id).second);
        }
      });
    }
    if (start == 1) {
      EXPECT_EQ(service.live->add_actions({"new"}), action_count);
      service.live->retire(0);
    }
    for (std::thread& client : clients) client.join();
    const std::string before = service.live->saved();
    EXPECT_EQ(service.replayed(), before);
    service.open();
    EXPECT_EQ(service.live->saved(), before);
  }
  EXPECT_EQ(all_of<Settled>(*service.store).size(), ids.size());
  EXPECT_EQ(all_of<Decided>(*service.store).size(), ids.size());
  EXPECT_EQ(ids.size(), threads * each * starts);
  EXPECT_EQ(service.live->actions().back(), "new");
  for (int i = 0; i < 50; ++i) EXPECT_NE(service.live->decide(x0).action, 0U);
}

INSTANTIATE_TEST_SUITE_P(Agents, LiveUnderLoad, testing::Values("pi-ts", "lin-ts", "boltzmann", "neural-ts"),
                         [](const auto& agent) { return plain_name(agent.param); });

// Learned from any snapshot on, or from the first event: the same bytes.
TEST(LiveBandit, EverySnapshotLeadsToTheSameState) {
  Service service(live_setup("pi-ts"));
  for (int start = 0; start < 4; ++start) {
    for (const Event& e : random_events(40, static_cast<std::uint64_t>(start))) {
      const Choice choice = service.live->decide(e.x);
      if (choice.id % 5 != 0) service.live->reward({choice.id, e.reward});
    }
    service.clock.pass(start == 2 ? 700.0 : 1.0);
    service.live->catch_up();
    service.open();  // keeps a snapshot
  }
  EXPECT_GT(service.store->snapshots().size(), 1U);
  const std::string state = service.live->saved();  // no training is under way from here on
  for (const Snapshot& snapshot : service.store->snapshots()) {
    EXPECT_EQ(snapshot.engine, engine_name());
    Learner learner(*service.store, snapshot);
    learner.follow(service.store->last());
    EXPECT_TRUE(learner.saved() == state);
  }
  EXPECT_TRUE(service.replayed() == state);
  EXPECT_FALSE(all_of<Settled>(*service.store).empty());
}

TEST(LiveBandit, ADiskThatIsFullLosesNothing) {
  Service service(live_setup("lin-ts"));
  const Choice first = service.live->decide(x0);
  service.live->flush();
  service.store->fails = true;
  const Choice second = service.live->decide(x0);  // goes on
  const std::string said = message_of([&] { service.live->reward({first.id, 1.0F}); }, ErrorKind::failed);
  expect_mentions(said, {"No space left"});
  EXPECT_EQ(service.live->status().problem, said);
  EXPECT_EQ(service.live->status().queued, 1U);
  service.store->fails = false;
  EXPECT_EQ(service.live->reward({first.id, 1.0F}), Answer::accepted);
  EXPECT_EQ(service.live->reward({second.id, 0.5F}), Answer::accepted);
  EXPECT_EQ(service.live->status().problem, "");
  EXPECT_EQ(service.live->status().queued, 0U);
  EXPECT_EQ(all_of<Settled>(*service.store).size(), 2U);
}

TEST(LiveBandit, DecisionsPileUpToALimit) {
  Service service(live_setup("uniform"));
  service.store->fails = true;
  const auto decide_for_ever = [&] {
    for (int i = 0; i < 200'000; ++i) service.live->decide(x0);
  };
  const std::string said = message_of(decide_for_ever, ErrorKind::failed);
  EXPECT_TRUE(said.find("No space left") != std::string::npos) << said;
}

TEST(LiveBandit, ARepeatedKeyIsTheSameDecision) {
  Service service(live_setup("uniform"));
  const Choice first = service.live->decide(x0, {}, {.key = "visit", .context = "{\"age\": 3}"});
  for (int i = 0; i < 20; ++i) {
    if (i == 10) service.open();
    const Choice again = service.live->decide(x0, {}, {.key = "visit"});
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(again.action, first.action);
    EXPECT_EQ(again.propensity, first.propensity);
  }
  EXPECT_EQ(service.live->find("visit"), first.id);
  EXPECT_FALSE(service.live->find("nobody"));
  EXPECT_EQ(all_of<Decided>(*service.store).size(), 1U);
  EXPECT_EQ(all_of<Decided>(*service.store)[0].context, "{\"age\": 3}");
}

// A click outside 0..1 is refused by the agent, not by the log: it is left out now and in every replay.
TEST(LiveBandit, ARefusedOutcomeIsCountedAndLeftOut) {
  Service service(live_setup("bernoulli-ts"));
  for (int i = 0; i < 30; ++i) {
    const Choice choice = service.live->decide(x0);
    EXPECT_EQ(service.live->reward({choice.id, i == 10 ? 7.0F : 1.0F}), Answer::accepted);
  }
  const std::string state = service.live->saved();
  EXPECT_EQ(service.live->status().refused, 1U);
  expect_mentions(service.live->status().problem, {"decision 10", "7"});
  EXPECT_EQ(service.replayed(), state);
  EXPECT_EQ(Bandit::from_saved(state, "live").agent().events(), 29U);
}

TEST(LiveBandit, BadCallsChangeNothing) {
  Service service(live_setup("uniform"));
  const EventNumber before = service.live->status().committed;
  EXPECT_THROW(service.live->decide(std::vector<float>{1.0F}), Error);
  EXPECT_THROW(service.live->decide(x0, {}, {.key = std::string(300, 'k')}), Error);
  const Reward rewards[] = {{0, 1.0F}, {0, NAN}};
  EXPECT_THROW(service.live->reward(rewards), Error);
  EXPECT_THROW(service.live->retire(9), Error);
  EXPECT_EQ(service.live->status().committed, before);
  LiveSetup twice = live_setup("uniform");
  twice.actions = {"a", "a"};
  MemoryStore store;
  expect_mentions(message_of([&] { LiveBandit::create(store, twice); }), {"two actions", "'a'"});
  EXPECT_EQ(store.last(), 0U);
}

// What another engine left is kept as a base, and the log says where the new one begins.
TEST(LiveBandit, AnotherEngineStartsFromABase) {
  Service service(live_setup("lin-ts"));
  service.live->reward({service.live->decide(x0).id, 1.0F});
  service.live.reset();
  {
    Ledger ledger(*service.store, service.clock);
    ledger.begin_group();
    ledger.change_engine("0.0.9 old SCALAR");
    ledger.commit();
  }
  service.open();
  const auto changes = all_of<EngineChanged>(*service.store);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[1].engine, engine_name());
  std::size_t bases = 0;
  for (const Snapshot& snapshot : service.store->snapshots()) bases += snapshot.base ? 1U : 0U;
  EXPECT_EQ(bases, 1U);
  service.open();
  EXPECT_EQ(all_of<EngineChanged>(*service.store).size(), 2U);
}

TEST(LiveBandit, TheSeedIsRandomUnlessGivenAndIsRecorded) {
  std::set<std::uint64_t> seeds;
  for (int i = 0; i < 4; ++i) {
    MemoryStore store;
    LiveSetup setup = live_setup("uniform");
    setup.seed.reset();
    LiveBandit::create(store, setup);
    seeds.insert(all_of<Created>(store)[0].seed);
  }
  EXPECT_EQ(seeds.size(), 4U);
}

TEST(LiveBandit, FeaturesOfActionsAreLoggedAndLearned) {
  Service service(live_setup("feature-ts,action_features=2"));
  Matrix<float> z(action_count, 2);
  for (std::size_t a = 0; a < action_count; ++a) z(a, 0) = static_cast<float>(a), z(a, 1) = 1.0F;
  Bandit plain(small_spec("feature-ts,action_features=2"), small_setup(), {.floor = 0.02});
  const Choice choice = service.live->decide(x0, {.features = z});
  EXPECT_EQ(choice.action, plain.decide(x0, {.features = z}).action);
  service.live->reward({choice.id, 1.0F});
  plain.learn(0, 1.0F);
  EXPECT_EQ(agent_state(Bandit::from_saved(service.live->saved(), "live")), agent_state(plain));
  EXPECT_EQ(all_of<Decided>(*service.store)[0].features.size(), action_count * 2);
}

TEST(LiveBandit, GoesOnWithItsFiles) {
  const Scratch scratch;
  std::string state;
  DecisionId last = 0;
  for (int start = 0; start < 3; ++start) {
    auto store = std::make_unique<SqliteStore>(scratch / "shop");
    if (store->last() == 0) LiveBandit::create(*store, live_setup("lin-ts"));
    LiveBandit live(std::move(store));
    if (start > 0) {
      EXPECT_EQ(live.saved(), state);
    }
    for (const Event& e : random_events(30, 3)) {
      const Choice choice = live.decide(e.x);
      EXPECT_TRUE(choice.id > last || choice.id == 0);
      last = choice.id;
      live.reward({choice.id, e.reward});
    }
    state = live.saved();
  }
}

}  // namespace
}  // namespace pits::test
