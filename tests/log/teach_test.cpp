// A new log from an old one: what its bandit has learned, against a plain loop over the old log.
#include "pits/log/teach.h"

#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "log/service.h"
#include "pits/log/audit.h"
#include "pits/log/event_json.h"

namespace pits::test {
namespace {

const char* const old_schema = R"({"features": [{"name": "age", "kind": "number"},
  {"name": "country", "kind": "category", "levels": ["de", "fr"]}]})";
const char* const new_schema = R"({"features": [{"name": "age", "kind": "number", "missing": "level"},
  {"name": "country", "kind": "category", "levels": ["de"], "unknown": "level"}]})";

std::string visitor(int i) {
  return fmt::format(R"({{"age": {}, "country": "{}"}})", i % 11, i % 3 == 0 ? "de" : "fr");
}

LiveSetup shop_setup(const std::string& agent, TrainingPlace training) {
  LiveSetup setup =
      live_setup(agent, {.propensity_draws = 20, .rewards = RewardRule::first, .window = 100.0, .training = training});
  setup.context_size = 0;
  setup.schema = old_schema;
  return setup;
}

// A shop of 80 visitors, one per second: every fifth decision waits (and the first of them expire), some are cancelled,
// some have masks and keys; an action comes, another goes, the window changes.
struct OldShop : Service {
  explicit OldShop(const std::string& agent = "lin-ts", TrainingPlace training = TrainingPlace::beside)
      : Service(shop_setup(agent, training)) {
    for (int i = 0; i < 80; ++i) {
      if (i == 30) live->add_actions({"e"});
      if (i == 40) live->retire("b");
      if (i == 50) live->change_config({.propensity_draws = 20, .window = 60.0, .training = training});
      DecisionLabels labels{.key = i % 4 == 0 ? fmt::format("visit-{}", i) : ""};
      if (i % 7 == 0) labels.allowed = {"a", "c", "d"};
      const DecisionId id = live->decide(visitor(i), {}, labels).id;
      live->flush();  // so that its time does not depend on the writing thread
      clock.pass(1.0);
      if (i % 13 == 5) {
        live->cancel(id);
      } else if (i % 5 != 4) {
        live->reward({id, i % 2 == 0 ? 1.0F : 0.25F, "click"});
      }
    }
    live.reset();
  }
};

// What a plain bandit has learned that sees the outcomes of a log, group by group, in its own encoding.
std::string plainly_taught(const Store& old, const Created& created, const std::string& spec, bool encode) {
  const LiveConfig config = live_config(created.config);
  Bandit plain(
      spec, {.context_size = created.context_size, .actions = created.actions.size(), .seed = created.seed},
      {.floor = config.floor, .propensity = PropensityKind::none, .propensity_draws = config.propensity_draws});
  if (config.training == TrainingPlace::beside) plain.train_beside();
  std::map<DecisionId, Decided> decided;
  for (EventNumber n = 1; n <= old.last();) {
    const GroupReader group = old.group_holding(n).value();
    for (; n <= group.last(); ++n) {
      const pits::Event event = group.event(n);
      if (const auto* d = std::get_if<Decided>(&event)) decided[d->id] = *d;
      if (const auto* added = std::get_if<ActionsAdded>(&event)) plain.add_actions(added->names.size());
      if (const auto* retired = std::get_if<ActionRetired>(&event)) plain.retire(retired->action);
      const auto* settled = std::get_if<Settled>(&event);
      if (settled == nullptr || settled->reason == SettleReason::cancelled) continue;
      const Decided& made = decided.at(settled->id);
      const std::vector<float> x = encode ? Schema(new_schema).encode(made.context) : made.x;
      if (!x.empty()) plain.learn({.x = x, .action = made.action, .reward = settled->value, .id = settled->id});
    }
    if (config.training == TrainingPlace::beside && plain.agent().training_due()) {
      auto trained = plain.agent().clone();
      trained->train();
      plain.adopt(std::move(trained));
    }
  }
  return plain.saved();
}

class Teach : public testing::TestWithParam<std::pair<std::string, TrainingPlace>> {};

TEST_P(Teach, AnotherSchemaAndAgentLearnAsAPlainLoop) {
  const auto& [agent, training] = GetParam();
  const OldShop old("lin-ts", training);
  Service taught;
  const Teaching done = teach(*taught.store, *old.store, {.agent = small_spec(agent), .schema = new_schema, .seed = 5});
  const LogSummary before = check_log(*old.store), after = check_log(*taught.store);
  EXPECT_EQ(done.decisions, 80U);
  EXPECT_EQ(after.decisions, before.decisions);
  EXPECT_EQ(after.rewards, before.rewards);
  EXPECT_EQ(after.settled, before.settled);
  EXPECT_EQ(after.waiting, before.waiting);
  EXPECT_EQ(done.waiting, before.waiting);
  EXPECT_EQ(after.trainings, done.trainings);
  EXPECT_EQ(done.left_out + done.refused, 0U);
  const bool trains = agent != "lin-ts" && training == TrainingPlace::beside;
  EXPECT_TRUE(trains ? done.trainings > 3 : done.trainings == 0) << done.trainings;

  const Created created = all_of<Created>(*taught.store).front();
  EXPECT_EQ(created.seed, 5U);
  const std::string state = plainly_taught(*old.store, created, small_spec(agent), true);
  EXPECT_TRUE(taught.replayed() == state);
  EXPECT_TRUE(taught.store->snapshots().back().bytes == state);
  taught.clock.pass(80.0);
  taught.open();
  EXPECT_TRUE(taught.live->saved() == state);
}

INSTANTIATE_TEST_SUITE_P(
    Agents, Teach,
    testing::Values(std::pair{"lin-ts", TrainingPlace::beside}, std::pair{"pi-ts", TrainingPlace::beside},
                    std::pair{"pi-ts", TrainingPlace::in_line}, std::pair{"neural-linear", TrainingPlace::beside},
                    std::pair{"dropout", TrainingPlace::in_line}),
    [](const auto& agent) {
      return plain_name(agent.param.first) + (agent.param.second == TrainingPlace::beside ? "_beside" : "_in_line");
    });

TEST(Taught, DecisionsAreThoseOfTheOldLog) {
  const OldShop old;
  MemoryStore store;
  teach(store, *old.store, {.schema = new_schema});
  const auto before = all_of<Decided>(*old.store), after = all_of<Decided>(store);
  ASSERT_EQ(after.size(), before.size());
  std::map<DecisionId, Microseconds> times;
  for_each_event(*old.store, [&](EventNumber, const GroupTime& time, const pits::Event& event) {
    if (const auto* d = std::get_if<Decided>(&event)) times[d->id] = time.utc;
  });
  for_each_event(store, [&](EventNumber, const GroupTime& time, const pits::Event& event) {
    if (const auto* d = std::get_if<Decided>(&event)) {
      EXPECT_EQ(time.utc, times.at(d->id));
    }
  });
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].x, Schema(new_schema).encode(before[i].context));
    Decided same = after[i];
    same.x = before[i].x;
    same.model = before[i].model;
    EXPECT_EQ(to_json({1, {}, same}), to_json({1, {}, before[i]}));
  }
  const auto told = all_of<pits::Taught>(store);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].seed, all_of<Created>(*old.store)[0].seed);
  EXPECT_EQ(told[0].events, old.store->last());
  EXPECT_EQ(told[0].decisions, 80U);
}

// Late rewards, retries, keys and ids are those of the old bandit; what it decides from then on can be made again.
TEST(Taught, BanditGoesOn) {
  OldShop old;
  Service taught;
  taught.clock.pass(80.0);
  teach(*taught.store, *old.store, {.agent = small_spec("pi-ts:fast"), .schema = new_schema, .seed = 9});
  taught.open();
  LiveBandit& live = *taught.live;
  EXPECT_EQ(live.actions(), (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(live.config().window, 60.0);
  EXPECT_EQ(live.reward({78, 1.0F, "click"}), Answer::duplicate);
  EXPECT_EQ(live.reward({70, 1.0F}), Answer::expired);  // cancelled
  EXPECT_EQ(live.find("visit-76"), std::optional<DecisionId>(76));
  EXPECT_EQ(live.decide(visitor(0), {}, {.key = "visit-76"}).id, 76U);
  taught.clock.pass(30.0);  // of the window of 60: over for decisions before 50
  EXPECT_EQ(live.reward({59, 1.0F}), Answer::accepted);
  EXPECT_EQ(live.reward({39, 1.0F}), Answer::expired);
  for (int i = 0; i < 40; ++i) {
    const Choice choice = live.decide(visitor(i));
    EXPECT_GE(choice.id, all_of<IdsReserved>(*old.store).back().end);
    live.reward({choice.id, 1.0F});
  }
  const std::string state = live.saved();
  taught.live.reset();
  EXPECT_TRUE(taught.replayed() == state);
  check_log(*taught.store);
  const Verification found = verify_log(*taught.store);
  EXPECT_EQ(found.same, 40U);
  EXPECT_EQ(found.out_of_reach, 80U);
  EXPECT_EQ(found.different + found.other_engine, 0U);

  MemoryStore third;  // from a log that was taught itself
  EXPECT_EQ(teach(third, *taught.store, {.agent = "lin-ts"}).decisions, 120U);
  EXPECT_EQ(verify_log(third).out_of_reach, 120U);
  EXPECT_EQ(all_of<pits::Taught>(third).size(), 1U);
}

// Decisions that wait keep the rewards that they have.
TEST(Taught, RewardsThatAreSummedGoOn) {
  LiveSetup setup = live_setup("lin-ts", {.rewards = RewardRule::sum, .window = 100.0, .activation = true});
  Service old(setup), taught;
  const std::vector<float> x = {1.0F, 2.0F, 3.0F};
  const DecisionId rewarded = old.live->decide(x).id, activated = old.live->decide(x).id,
                   neither = old.live->decide(x).id;
  old.live->reward({rewarded, 1.0F, "view"});
  old.live->activate(activated);
  old.live.reset();
  EXPECT_EQ(teach(*taught.store, *old.store, {.agent = "lin-ts,lambda=2"}).waiting, 3U);
  taught.clock.pass(99.0);
  taught.open();
  EXPECT_EQ(taught.live->reward({rewarded, 1.0F, "view"}), Answer::duplicate);
  EXPECT_EQ(taught.live->reward({rewarded, 0.5F, "order"}), Answer::accepted);
  EXPECT_EQ(taught.live->activate(activated), Answer::duplicate);
  taught.clock.pass(1.0);
  EXPECT_EQ(taught.live->reward({rewarded, 1.0F, "late"}), Answer::expired);
  taught.live.reset();
  std::map<DecisionId, std::pair<float, SettleReason>> settled;
  for (const Settled& s : all_of<Settled>(*taught.store)) settled[s.id] = {s.value, s.reason};
  EXPECT_EQ(settled.size(), 3U);
  EXPECT_EQ(settled[rewarded], std::pair(1.5F, SettleReason::reward));
  EXPECT_EQ(settled[activated], std::pair(0.0F, SettleReason::expired));
  EXPECT_EQ(settled[neither], std::pair(0.0F, SettleReason::cancelled));
  check_log(*taught.store);
}

// Another agent learns from the logged numbers; another schema needs the named context.
TEST(Taught, WhatCannotBeKnownIsLeftOutAndCounted) {
  OldShop old;
  old.open();
  const std::vector<float> x = {3.0F, 0.0F, 1.0F};
  const DecisionId vector = old.live->decide(x).id;
  old.live->reward({vector, 1.0F});
  old.live->catch_up();
  old.live.reset();
  EXPECT_EQ(erase_contexts(*old.store, "asked", [](DecisionId id, const GroupTime&) { return id == 2 || id == 3; }),
            2U);
  MemoryStore agent, schema;
  const Teaching by_agent = teach(agent, *old.store, {.agent = "lin-ts,lambda=2", .schema = old_schema, .seed = 3});
  EXPECT_EQ(by_agent.left_out, 2U);
  EXPECT_EQ(by_agent.decisions, 79U);
  const std::string state = plainly_taught(*old.store, all_of<Created>(agent)[0], "lin-ts,lambda=2", false);
  EXPECT_TRUE(agent.snapshots().back().bytes == state);
  const Teaching by_schema = teach(schema, *old.store, {.schema = new_schema});
  EXPECT_EQ(by_schema.left_out, 3U);
  EXPECT_EQ(by_schema.decisions, 78U);
  EXPECT_EQ(all_of<pits::Taught>(schema)[0].left_out, 3U);
  check_log(agent);
  check_log(schema);
}

TEST(Taught, WhatDoesNotFitWritesNothing) {
  const OldShop old;
  MemoryStore store;
  const auto said = [&](const Store& from, const TeachSetup& setup) {
    const std::string message = message_of([&] { teach(store, from, setup); });
    EXPECT_EQ(store.last(), 0U);
    return message;
  };
  const std::string strict = R"({"features": [{"name": "country", "kind": "category", "levels": ["de"]}],
                                 "others": "ignore"})";
  expect_mentions(said(*old.store, {.schema = strict}), {"decision 1", "'country'", "'fr'"});
  expect_mentions(said(*old.store, {.schema = "{}"}), {"features"});
  expect_mentions(said(*old.store, {.agent = "lin-tss"}), {"lin-ts"});
  expect_mentions(said(MemoryStore(), {.agent = "lin-ts"}), {"holds no log"});
  Service vectors(live_setup("lin-ts"));
  vectors.live->decide(std::vector<float>{1.0F, 2.0F, 3.0F});
  vectors.live.reset();
  expect_mentions(said(*vectors.store, {.schema = new_schema}), {"none of the 1 decisions"});
  EXPECT_THROW(teach(*vectors.store, *old.store, {.agent = "lin-ts"}), Error);
}

// Features of actions go to an agent that takes them, and only there.
TEST(Taught, FeaturesOfActions) {
  LiveSetup setup = live_setup("feature-ts,action_features=2");
  const Matrix<float> z = [] {
    Matrix<float> features(action_count, 2);
    Stream({.seed = 3}).fill_normal(features.flat());
    return features;
  }();
  for (const bool candidates : {false, true}) {
    if (candidates) setup.actions.clear();
    Service old(setup);
    for (const Event& e : random_events(20, 4)) {
      old.live->reward({old.live->decide(e.x, {.features = z}).id, e.reward});
    }
    old.live.reset();
    MemoryStore same, plain, other;
    EXPECT_EQ(teach(same, *old.store, {.seed = 2}).learned, 20U);
    EXPECT_EQ(all_of<Decided>(same).back().features, all_of<Decided>(*old.store).back().features);
    expect_mentions(message_of([&] { teach(other, *old.store, {.agent = "feature-ts", .seed = 2}); }),
                    {"refuses every outcome", "features"});
    if (candidates) {
      expect_mentions(message_of([&] { teach(plain, *old.store, {.agent = "lin-ts", .seed = 2}); }),
                      {"lin-ts", "candidates"});
    } else {
      EXPECT_EQ(teach(plain, *old.store, {.agent = "lin-ts", .seed = 2}).learned, 20U);
      EXPECT_TRUE(all_of<Decided>(plain).back().features.empty());
    }
  }
}

}  // namespace
}  // namespace pits::test
