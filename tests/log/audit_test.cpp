// Checking, verifying, exporting and erasing logs of real services.
#include "pits/log/audit.h"

#include <gtest/gtest.h>

#include <set>

#include "bandit/small_bandit.h"
#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "log/memory_store.h"
#include "pits/log/event_json.h"
#include "pits/log/live_bandit.h"
#include "pits/log/sqlite_store.h"

namespace pits::test {
namespace {

// A service that runs twice, on several threads, with masks, a new action and a retired one.
void run_service(const std::filesystem::path& directory, const std::string& agent) {
  for (int start = 0; start < 2; ++start) {
    auto store = std::make_unique<SqliteStore>(directory);
    if (store->last() == 0) {
      LiveBandit::create(*store, {.agent = small_spec(agent),
                                  .context_size = context_size,
                                  .actions = {"a", "b", "c", "d"},
                                  .seed = 7,
                                  .config = {.propensity_draws = 10, .rewards = RewardRule::first}});
    }
    LiveBandit live(std::move(store));
    if (start == 1) live.add_actions({"e"});
    std::vector<std::thread> clients;
    for (int c = 0; c < 3; ++c) {
      clients.emplace_back([&, c] {
        const std::vector<std::uint8_t> mask = {1, 0, 1, 1, 1};
        for (const Event& e : random_events(60, static_cast<std::uint64_t>(c))) {
          const auto allowed = std::span(mask).first(start == 1 ? 5 : 4);
          const Choice choice = live.decide(e.x, {.allowed = c == 0 ? allowed : std::span<const std::uint8_t>()},
                                            {.key = c == 1 ? fmt::format("{}-{}", start, e.x[0]) : ""});
          if (choice.id % 4 != 0) live.reward({choice.id, e.reward, "click"});
        }
      });
    }
    for (std::thread& client : clients) client.join();
    live.retire(1);
    for (const Event& e : random_events(20, 9)) live.reward({live.decide(e.x).id, e.reward});
  }
}

class Audit : public testing::TestWithParam<std::string> {};

TEST_P(Audit, EveryDecisionCanBeMadeAgain) {
  const Scratch scratch;
  run_service(scratch / "log", GetParam());
  const SqliteStore store(scratch / "log", Access::read);
  const LogSummary summary = check_log(store);
  EXPECT_EQ(summary.decisions, 2 * (3 * 60 + 20U));
  EXPECT_EQ(summary.decisions, summary.settled + summary.waiting);
  const Verification found = verify_log(store);
  EXPECT_EQ(found.same, summary.decisions);
  EXPECT_EQ(found.different + found.other_engine + found.out_of_reach, 0U);
}

INSTANTIATE_TEST_SUITE_P(Agents, Audit, testing::Values("pi-ts", "lin-ts", "pi-ts:exact", "neural-linear"),
                         [](const auto& agent) { return plain_name(agent.param); });

// Copies a log as its lines of JSON, each changed as told.
void copy(const Store& from, Store& to, const std::function<void(TimedEvent&)>& change) {
  LogImport import(to);
  for_each_event(from, [&](EventNumber number, const GroupTime& time, const pits::Event& event) {
    TimedEvent line = event_from_json(to_json({number, time, event}));
    change(line);
    import.add(line);
  });
  import.finish();
}

class AuditOfACopy : public testing::Test {
 protected:
  void SetUp() override {
    run_service(scratch_ / "log", "lin-ts");
    log_ = std::make_unique<SqliteStore>(scratch_ / "log", Access::read);
  }
  Scratch scratch_;
  std::unique_ptr<SqliteStore> log_;
};

TEST_F(AuditOfACopy, LinesOfJsonKeepEveryBit) {
  MemoryStore same;
  copy(*log_, same, [](TimedEvent&) {});
  for (EventNumber n = 1; n <= log_->last(); n = log_->group_holding(n)->last() + 1) {
    const auto a = log_->group_holding(n).value(), b = same.group_holding(n).value();
    ASSERT_EQ(a.time().elapsed, b.time().elapsed);
    for (EventNumber i = n; i <= a.last(); ++i) {
      ASSERT_EQ(to_json({i, a.time(), a.event(i)}), to_json({i, b.time(), same.group_holding(i).value().event(i)}));
    }
  }
  Learner first(*log_), second(same);
  first.follow(log_->last());
  second.follow(same.last());
  EXPECT_EQ(first.saved(), second.saved());
  EXPECT_EQ(verify_log(same).same, check_log(*log_).decisions);
  const auto keyed = all_of<Decided>(same);
  for (const Decided& d : keyed) {
    EXPECT_TRUE(d.key.empty() || same.decision_of(d.key) == d.id);
  }
}

TEST_F(AuditOfACopy, AChangedDecisionIsFound) {
  MemoryStore changed;
  std::set<DecisionId> ids;
  copy(*log_, changed, [&](TimedEvent& line) {
    auto* decided = std::get_if<Decided>(&line.event);
    if (decided == nullptr || decided->id % 50 != 7) return;
    ids.insert(decided->id);
    decided->propensities[0] += 1e-6F;
  });
  const Verification found = verify_log(changed);
  EXPECT_EQ(found.different, ids.size());
  EXPECT_EQ(std::set<DecisionId>(found.examples.begin(), found.examples.end()), ids);
}

TEST_F(AuditOfACopy, AnotherEngineIsNotCompared) {
  MemoryStore other;
  copy(*log_, other, [](TimedEvent& line) {
    if (auto* created = std::get_if<Created>(&line.event)) created->engine = "another";
  });
  const Verification found = verify_log(other);
  EXPECT_EQ(found.other_engine, check_log(*log_).decisions);
  EXPECT_EQ(found.same + found.different, 0U);
}

// A server of a fleet may have another engine than the one that learns.
TEST_F(AuditOfACopy, DecisionsOfAnotherEngineThanTheirModelsAreNotCompared) {
  MemoryStore other;
  std::uint64_t elsewhere = 0, seen = 0;
  copy(*log_, other, [&](TimedEvent& line) {
    auto* decided = std::get_if<Decided>(&line.event);
    if (decided == nullptr || ++seen % 3 != 0) return;
    ++elsewhere;
    decided->engine = "another";
    decided->propensities[0] += 0.25F;  // its bits
  });
  const Verification found = verify_log(other);
  EXPECT_EQ(found.other_engine, elsewhere);
  EXPECT_EQ(found.same, check_log(*log_).decisions - elsewhere);
  EXPECT_EQ(found.different, 0U);
}

// Faults that no checksum shows, each with the words that name it.
TEST_F(AuditOfACopy, ContradictionsAreNamed) {
  const auto said = [&](const std::function<void(TimedEvent&)>& change) {
    MemoryStore bad;
    copy(*log_, bad, change);
    return message_of([&] { check_log(bad); });
  };
  int seen = 0;
  expect_mentions(said([&](TimedEvent& line) {
                    auto* d = std::get_if<Decided>(&line.event);
                    if (d != nullptr && ++seen > 5) d->id = 0;
                  }),
                  {"id 0", "given twice"});
  expect_mentions(said([](TimedEvent& line) {
                    if (auto* ids = std::get_if<IdsReserved>(&line.event)) ids->end = 3;
                  }),
                  {"not reserved"});
  seen = 0;
  expect_mentions(said([&](TimedEvent& line) {
                    auto* s = std::get_if<Settled>(&line.event);
                    if (s != nullptr && ++seen == 9) s->previous = 1;
                  }),
                  {"not 1"});
  seen = 0;
  expect_mentions(said([&](TimedEvent& line) {
                    auto* r = std::get_if<Rewarded>(&line.event);
                    if (r != nullptr && ++seen == 9) r->id = 999'999;
                  }),
                  {"999999", "never made"});
}

TEST_F(AuditOfACopy, LinesThatAreNoEventsAreNamed) {
  expect_mentions(message_of([] { event_from_json("{"); }), {"not an event in JSON"});
  expect_mentions(message_of([] { event_from_json("{\"number\": 1}"); }), {"utc"});
  expect_mentions(message_of([] { event_from_json(R"({"number":1,"utc":1,"elapsed":0,"event":"lost"})"); }),
                  {"no event 'lost'"});
  MemoryStore store;
  LogImport import(store);
  expect_mentions(message_of([&] { import.add({.number = 2, .time = {}, .event = IdsReserved {}}); }),
                  {"event 1", "not 2"});
  expect_mentions(message_of([&] { import.add({.number = 1, .time = {}, .event = IdsReserved {}}); }), {"'created'"});
}

// Contexts are gone from the file, the state is as it was, and the service goes on.
TEST(Erase, BlanksContextsAndNothingElse) {
  const Scratch scratch;
  run_service(scratch / "log", "lin-ts");
  std::string state;
  {
    LiveBandit live(std::make_unique<SqliteStore>(scratch / "log"));
    live.decide(std::vector<float>{1.0F, 2.0F, 3.0F}, {},
                {.key = "visitor-77", .context = "{\"name\": \"Ada Lovelace\"}"});
    live.reward({live.find("visitor-77").value(), 1.0F});
    state = live.saved();
  }
  DecisionId ada = 0;
  {
    SqliteStore store(scratch / "log");
    ada = store.decision_of("visitor-77").value();
    EXPECT_EQ(erase_contexts(store, "asked", [&](DecisionId id, const GroupTime&) { return id == ada || id == 4; }), 1U)
        << "4 waits for its reward";
    EXPECT_EQ(erase_contexts(store, "again", [&](DecisionId id, const GroupTime&) { return id == ada; }), 0U);
    EXPECT_FALSE(store.decision_of("visitor-77"));
    const auto erased = all_of<Erased>(store);
    ASSERT_EQ(erased.size(), 1U);
    EXPECT_EQ(erased[0].decisions, 1U);
    EXPECT_EQ(erased[0].reason, "asked");
    check_log(store);
    const Verification found = verify_log(store);
    EXPECT_EQ(found.different, 0U);
    EXPECT_GE(found.out_of_reach, 1U);
    Learner from_the_first(store);
    expect_mentions(message_of([&] { from_the_first.follow(store.last()); }), {"was erased", "later snapshot"});
  }
  for (const auto& entry : std::filesystem::directory_iterator(scratch / "log")) {
    if (entry.path().filename() == ".lock") continue;
    EXPECT_EQ(bytes_of(entry.path()).find("Lovelace"), std::string::npos) << entry.path();
    EXPECT_EQ(bytes_of(entry.path()).find("visitor-77"), std::string::npos) << entry.path();
  }
  LiveBandit live(std::make_unique<SqliteStore>(scratch / "log"));
  EXPECT_EQ(live.saved(), state);
  EXPECT_EQ(live.reward({ada, 1.0F}), Answer::duplicate);
}

// A bandit without contexts has keys; one without contexts and actions has features of candidates.
TEST(Erase, BlanksKeysAndFeaturesWhereThereIsNoContext) {
  for (const bool candidates : {false, true}) {
    const Scratch scratch;
    LiveSetup setup{.agent = small_spec(candidates ? "feature-ts,action_features=2" : "bernoulli-ts"),
                    .actions = {"a", "b"},
                    .seed = 7,
                    .config = {.rewards = RewardRule::first}};
    if (candidates) setup.actions.clear();
    std::string state;
    {
      auto store = std::make_unique<SqliteStore>(scratch / "log");
      LiveBandit::create(*store, setup);
      LiveBandit live(std::move(store));
      for (const char* key : {"visitor-1", "visitor-2"}) {
        Matrix<float> z(3, 2);
        const Choice choice =
            live.decide(ContextView(), {.features = candidates ? z.view() : ConstMatrixView<float>()}, {.key = key});
        live.reward({choice.id, 1.0F});
      }
      state = live.saved();
    }
    SqliteStore store(scratch / "log");
    EXPECT_EQ(erase_contexts(store, "asked", [](DecisionId id, const GroupTime&) { return id == 0; }), 1U);
    EXPECT_EQ(erase_contexts(store, "again", [](DecisionId id, const GroupTime&) { return id == 0; }), 0U);
    EXPECT_FALSE(store.decision_of("visitor-1"));
    EXPECT_TRUE(store.decision_of("visitor-2"));
    EXPECT_EQ(all_of<Decided>(store)[0].features.size(), 0U);
    EXPECT_EQ(verify_log(store).different, 0U);
    Learner replay(store);
    if (candidates) {
      EXPECT_THROW(replay.follow(store.last()), Error);
    } else {
      replay.follow(store.last());
      EXPECT_EQ(replay.saved(), state);
    }
  }
}

}  // namespace
}  // namespace pits::test
