// Logs frozen in fixtures/: every later pits reads them. store-1 is of the first layout; store-2 has a schema, a
// snapshot, a base of replays and every kind of event, which events-2.jsonl holds as `pits log export` writes them.
// Where a format changes, its version rises, and a new fixture is added beside these. Until the first release store-2
// may be written anew instead:
//
//   PITS_FREEZE=1 build/release/test_log --gtest_filter='Frozen*'
#include <gtest/gtest.h>

#include <cstdlib>

#include "experiment/scratch.h"
#include "log/memory_store.h"
#include "pits/core/io/files.h"
#include "pits/log/audit.h"
#include "pits/log/event_json.h"
#include "pits/log/live_bandit.h"
#include "pits/log/sqlite_store.h"

namespace pits::test {
namespace {

const std::string fixtures = std::string(PITS_TEST_DIR) + "/log/fixtures";
const char* const schema = R"({"features": [{"name": "age", "kind": "number", "missing": "level"},
  {"name": "country", "kind": "category", "levels": ["de", "fr"], "unknown": "level"}]})";
constexpr std::size_t kinds = std::variant_size_v<pits::Event>;

Decided decision(DecisionId id, const std::string& key = "") {
  Decided decided;
  decided.id = id;
  decided.key = key;
  decided.model = 2;
  decided.action = id % 2;
  decided.floor = 0.02F;
  decided.propensities = {0.25F, 0.75F};
  decided.x = {30.0F + static_cast<float>(id), 0.0F, 1.0F, 0.0F, 0.0F};
  decided.context = fmt::format(R"({{"age":{},"country":"de"}})", 30 + id);
  return decided;
}

class Freezer {
 public:
  explicit Freezer(const std::filesystem::path& directory) : store_(directory) {
    Created created = created_by({.agent = "lin-ts",
                                  .actions = {"tea", "milk"},
                                  .seed = 7,
                                  .config = {.rewards = RewardRule::sum, .window = 60, .default_reward = 0.125},
                                  .schema = schema});
    created.engine = "0.1.0 fixture AVX2";
    Ledger::create(store_, clock_, created);
    ledger_ = std::make_unique<Ledger>(store_, clock_);
  }

  void write() {
    group([](Ledger& l) { l.reserve_ids(1000); });
    group(
        [](Ledger& l) { l.record(Taught{.agent = "uniform", .seed = 3, .events = 9, .decisions = 2, .left_out = 1}); });
    for (DecisionId id = 0; id < 5; ++id) {
      group([&](Ledger& l) {
        Decided decided = decision(id, id == 0 ? "visit-0" : "");
        l.decide(decided);
      });
    }
    group([](Ledger& l) { l.activate(0), l.reward({0, 0.5F, "view"}), l.reward({0, 2.0F, "order"}); });
    group([](Ledger& l) { l.reward({1, 1.0F}), l.cancel(2), l.record(Gap{.decisions = 4}); });
    auto lost = std::make_shared<Restored>();
    static_cast<Decided&>(*lost) = decision(500);
    lost->utc = clock_.utc() - second;
    group([&](Ledger& l) { l.reward({500, 1.0F, "click", lost}); });
    const EventNumber began = group([](Ledger& l) { l.record(TrainingBegan{.observations = 0}); });
    clock_.pass(61);  // windows close: rewards, the default, a lost one
    group([](Ledger& l) { l.settle_expired(100); });
    group([&](Ledger& l) { l.record(TrainingAdopted{.began = began, .problem = ""}); });
    group([](Ledger& l) { l.record(TrainingSkipped{.began = 0, .reason = "learning is 7 events behind"}); });
    group([](Ledger& l) { l.add_actions({"cake"}), l.retire(0); });
    group([](Ledger& l) {
      LiveConfig config = l.config();
      config.window = 600;
      l.change_config(config);
    });
    erase(0);
    group([](Ledger& l) { l.change_engine("0.1.0 fixture AVX3"); });
    group([](Ledger& l) {
      Decided decided = decision(5, "visit-5");
      l.decide(decided);
    });
    std::string lines;
    for_each_event(store_, [&](EventNumber number, const GroupTime& time, const pits::Event& event) {
      lines += to_json({number, time, event}) + "\n";
    });
    write_file_atomically(fixtures + "/events-2.jsonl", lines);
  }

 private:
  template <class Call>
  EventNumber group(const Call& call) {
    clock_.pass(0.5);
    ledger_->begin_group();
    call(*ledger_);
    ledger_->commit();
    return ledger_->last();
  }
  void erase(DecisionId chosen) {
    Learner learner(store_);
    learner.follow(store_.last());
    store_.keep({.number = learner.number(), .engine = "0.1.0 fixture AVX2", .bytes = learner.saved()});
    erase_contexts(
        store_, "asked", [&](DecisionId id, const GroupTime&) { return id == chosen; },
        [&](const Erased& erased) { group([&](Ledger& l) { l.record(erased); }); });
  }

  SqliteStore store_;
  FakeClock clock_;
  std::unique_ptr<Ledger> ledger_;
};

void freeze() {
  std::filesystem::remove_all(fixtures + "/store-2");
  Freezer(fixtures + "/store-2").write();
  std::filesystem::remove(fixtures + "/store-2/.lock");
}

DecisionId since_2020(const Clock& clock) { return static_cast<DecisionId>(clock.utc() - 1'577'836'800 * second); }

class FrozenStore : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (std::getenv("PITS_FREEZE") != nullptr) freeze();
  }
  std::filesystem::path copy_of(const std::string& name) const {
    std::filesystem::copy(fixtures + "/" + name, scratch_ / name);
    return scratch_ / name;
  }
  const Scratch scratch_;
};

TEST_F(FrozenStore, OfTheFirstLayoutGoesOn) {
  const auto directory = copy_of("store-1");
  {
    const SqliteStore store(directory);
    const LogSummary summary = check_log(store);
    EXPECT_EQ(summary.events, 10U);
    EXPECT_EQ(summary.decisions, 4U);
    EXPECT_EQ(store.decision_of("visit-1"), 0U);
    EXPECT_EQ(all_of<Decided>(store)[0].context, "{\"age\":30}");
  }
  FakeClock clock;
  LiveBandit live(std::make_unique<SqliteStore>(directory), clock);
  EXPECT_EQ(live.reward({1, 1.0F, "click"}), Answer::duplicate);
  EXPECT_EQ(live.reward({0, 1.0F}), Answer::expired);
  EXPECT_EQ(live.reward({4, 1.0F}), Answer::unknown);
  EXPECT_EQ(live.decide(std::vector<float>{0.5F}).id, since_2020(clock));  // above 65536, the reserved ones
  EXPECT_EQ(live.actions(), (std::vector<std::string>{"tea", "milk"}));
}

TEST_F(FrozenStore, HasEveryKindOfEventAsItsLinesSay) {
  const SqliteStore store(copy_of("store-2"));
  std::string lines;
  std::set<std::size_t> seen;
  for_each_event(store, [&](EventNumber number, const GroupTime& time, const pits::Event& event) {
    lines += to_json({number, time, event}) + "\n";
    seen.insert(event.index());
  });
  EXPECT_EQ(lines, bytes_of(fixtures + "/events-2.jsonl"));
  EXPECT_EQ(seen.size(), kinds) << "a new kind of event needs a new fixture";
  const LogSummary summary = check_log(store);
  EXPECT_EQ(summary.decisions, 7U);
  EXPECT_EQ(summary.rewards, 4U);
  EXPECT_EQ(summary.settled, 6U);
  EXPECT_EQ(summary.waiting, 1U);
  EXPECT_EQ(summary.trainings, 1U);
  EXPECT_EQ(summary.restored, 1U);
  EXPECT_EQ(summary.unlogged, 4U);
  std::map<DecisionId, std::pair<float, SettleReason>> ends;
  for (const Settled& s : all_of<Settled>(store)) ends[s.id] = {s.value, s.reason};
  EXPECT_EQ(ends.at(0), std::pair(2.5F, SettleReason::reward));  // the sum
  EXPECT_EQ(ends.at(2).second, SettleReason::cancelled);
  EXPECT_EQ(ends.at(3), std::pair(0.125F, SettleReason::expired));
  EXPECT_EQ(ends.at(500).second, SettleReason::lost);
}

TEST_F(FrozenStore, GoesOnFromItsSnapshot) {
  FakeClock clock;  // the window of decision 5 stays open
  LiveBandit live(std::make_unique<SqliteStore>(copy_of("store-2")), clock);
  EXPECT_EQ(live.actions(), (std::vector<std::string>{"tea", "milk", "cake"}));
  EXPECT_EQ(live.retired(), (std::vector<std::uint8_t>{1, 0, 0}));
  EXPECT_EQ(live.config().window, 600.0);
  EXPECT_EQ(live.schema().value().columns().size(), 5U);
  EXPECT_EQ(live.schema()->encode(R"({"country": "nl"})"), (std::vector<float>{0, 1, 0, 0, 1}));
  EXPECT_FALSE(live.find("visit-0")) << "erased";
  EXPECT_EQ(live.find("visit-5"), 5U);
  EXPECT_EQ(live.reward({5, 1.0F, "click"}), Answer::accepted);
  EXPECT_EQ(live.reward({0, 1.0F, "order"}), Answer::duplicate);
  EXPECT_EQ(live.reward({3, 1.0F}), Answer::expired);
  EXPECT_EQ(live.reward({6, 1.0F}), Answer::unknown);
  const Choice choice = live.decide(R"({"age": 31, "country": "fr"})");
  EXPECT_EQ(choice.id, since_2020(clock));  // above 1000, the reserved ones
  EXPECT_NE(choice.action, 0U);
  // Four outcomes were learned: 0, 1, 3 and 4; 2 was cancelled and 500 is a lost one.
  EXPECT_EQ(Bandit::from_saved(live.saved(), "live").agent().events(), 4U);
}

}  // namespace
}  // namespace pits::test
