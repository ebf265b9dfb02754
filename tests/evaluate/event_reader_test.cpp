// Logs of live bandits, as rounds for an evaluation.
#include "evaluate/readers.h"
#include "pits/log/event_json.h"
#include "pits/log/sqlite_store.h"

namespace pits::test {
namespace {

using std::string;
using std::vector;

using EventReader = Readers;

TEST_F(EventReader, EventsOfAStoreAndItsExport) {
  const string lines = string(PITS_TEST_DIR) + "/log/fixtures/shop.jsonl";
  const LoggedData data = read_log(lines);
  EXPECT_EQ(data.action_names, (vector<string>{"tea", "milk"}));
  EXPECT_EQ(data.counts.cancelled, 1);
  EXPECT_EQ(data.rounds() + data.counts.cancelled + data.counts.waiting + data.counts.erased, 4);
  {
    SqliteStore store(directory_ / "shop");
    LogImport import(store);
    std::ifstream file(lines);
    for (string line; std::getline(file, line);) import.add(event_from_json(line));
    import.finish();
  }
  const LoggedData same = read_log(directory_ / "shop");
  EXPECT_EQ(same.actions, data.actions);
  EXPECT_EQ(same.rewards, data.rewards);
  EXPECT_EQ(same.propensities, data.propensities);
}

string event(int number, const string& rest) {
  return R"({"number":)" + std::to_string(number) + R"(,"utc":0,"elapsed":0,"event":)" + rest + "}\n";
}
string created(int actions = 2, const string& config = "{}") {
  const string names = actions == 2 ? R"(["a","b"])" : R"(["a"])";
  return event(1, R"("created","agent":"uniform","context_size":1,"seed":7,"actions":)" + names + R"(,"config":)" +
                      config + R"(,"schema":"","engine":"")");
}
string decided(int number, int id, int action, const string& p, const string& x = "[1]",
               const string& kind = R"("decided")") {
  return event(number, kind + R"(,"id":)" + std::to_string(id) + R"(,"key":"","model":1,"action":)" +
                           std::to_string(action) + R"(,"active":true,"floor":0,"propensity_error":0,"propensities":)" +
                           p + R"(,"allowed":[],"x":)" + x + R"(,"features":[],"context":"")");
}
string settled(int number, int id, const string& reason, double value = 1.0) {
  return event(number, R"("settled","id":)" + std::to_string(id) + R"(,"previous":1,"value":)" + std::to_string(value) +
                           R"(,"reason":")" + reason + "\"");
}

TEST_F(EventReader, EventsAreTreatedByTheirKind) {
  string log = created();
  log += decided(2, 0, 0, "[1,0]") + settled(3, 0, "reward");  // cold start: left out
  log += decided(4, 1, 1, "[0.5,0.5]") + settled(5, 1, "expired", 0.0);
  log += decided(6, 2, 0, "[1,0]") + settled(7, 2, "reward");  // certain, later: kept
  log += decided(8, 3, 0, "[0.5,0.5]") + settled(9, 3, "cancelled", 0.0);
  log += decided(10, 4, 0, "[0.5,0.5]");                                   // waits
  log += decided(11, 5, 0, "[0.5,0.5]", "[]") + settled(12, 5, "reward");  // erased
  log += event(13, R"("actions_added","first":2,"names":["c"])");
  log += decided(14, 6, 2, "[0.2,0.2,0.6]") + settled(15, 6, "reward");
  log += event(16, R"("action_retired","action":0)");
  log += decided(17, 7, 1, "[0,0.5,0.5]") + settled(18, 7, "reward");
  const LoggedData data = read("log.jsonl", log);
  EXPECT_EQ(data.counts.cold_start, 1);
  EXPECT_EQ(data.counts.expired, 1);
  EXPECT_EQ(data.counts.certain, 1);
  EXPECT_EQ(data.counts.cancelled, 1);
  EXPECT_EQ(data.counts.waiting, 1);
  EXPECT_EQ(data.counts.erased, 1);
  EXPECT_EQ(data.action_names, (vector<string>{"a", "b", "c"}));
  EXPECT_EQ(data.actions, (vector<Action>{1, 0, 2, 1}));
  EXPECT_EQ(data.allowed, (vector<std::uint8_t>{1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(data.all_propensities, (vector<float>{.5F, .5F, 0, 1, 0, 0, .2F, .2F, .6F, 0, .5F, .5F}));
}

// Restored decisions are known because rewards brought them back, the others of the same loss are not: they would speak
// for too much reward.
TEST_F(EventReader, EventsOfLostDecisionsAreLeftOutAndCounted) {
  const string restored = R"("restored","utc":5)";
  string log = created();
  log += decided(2, 0, 1, "[0.5,0.5]") + settled(3, 0, "reward", 0.0);
  log += decided(4, 1, 1, "[0.5,0.5]", "[1]", restored) + settled(5, 1, "lost");
  log += event(6, R"("gap","decisions":40)");
  log +=
      decided(7, 2, 1, "[0.5,0.5]", "[1]", restored) + settled(8, 2, "reward");  // learned, where windows never close
  log += decided(9, 3, 1, "[0.5,0.5]", "[1]", restored);
  log += event(10, R"("gap","decisions":2)");
  log += decided(11, 4, 0, "[0.5,0.5]") + settled(12, 4, "expired", 0.0);
  const LoggedData data = read("log.jsonl", log);
  EXPECT_EQ(data.rewards, (vector<double>{0.0, 0.0}));
  EXPECT_EQ(data.counts.restored, 3);
  EXPECT_EQ(data.counts.unlogged, 42);
  EXPECT_EQ(data.counts.waiting, 0);
}

TEST_F(EventReader, EventsTellTheRangeOfRewards) {
  const auto range_of = [&](const string& config, double value) {
    const string log = created(2, config) + decided(2, 0, 1, "[0.5,0.5]") + settled(3, 0, "reward", value);
    return read("log.jsonl", log).reward_range;
  };
  EXPECT_FALSE(range_of("{}", 1.0));
  ASSERT_TRUE(range_of(R"({"reward_range":"-1,2"})", 2.0));
  EXPECT_EQ(range_of(R"({"reward_range":"-1,2"})", 2.0)->low, -1.0);
  EXPECT_EQ(range_of(R"({"reward_range":"-1,2"})", 2.0)->high, 2.0);
  EXPECT_FALSE(range_of(R"({"reward_range":"-1,2"})", 2.5));  // of before it was set
  EXPECT_FALSE(range_of(R"({"reward_range":"-1,2","rewards":"sum"})", 1.0));
  const string changed = created(2, R"({"reward_range":"-1,2"})") + decided(2, 0, 1, "[0.5,0.5]") +
                         event(3, R"("config_changed","config":{"reward_range":"0,5"})") + settled(4, 0, "reward", 4.0);
  EXPECT_EQ(read("log.jsonl", changed).reward_range->high, 5.0);
  expect_error("log.jsonl", created(2, R"({"reward_range":"5,0"})"), "1", "go up");
}

TEST_F(EventReader, BrokenEvents) {
  const LogOptions events{.format = LogFormat::events};
  expect_error("a.jsonl", decided(1, 0, 0, "[0.5,0.5]"), "1", "must be 'created'", events);
  expect_error("a.jsonl", created() + decided(3, 0, 0, "[0.5,0.5]"), "2", "event 2 must follow, not 3", events);
  expect_error("a.jsonl", created() + "{}\n", "2", "not an event", events);
  expect_error("a.jsonl", created() + settled(2, 9, "reward"), "2", "was not made before", events);
  expect_error("a.jsonl", created() + decided(2, 0, 0, "[.5,.5]") + "x", "2", "not an event", events);
  const string one = created() + decided(2, 0, 0, "[0.5,0.5]") + settled(3, 0, "reward");
  expect_error("a.jsonl", one + settled(4, 0, "reward"), "4", "settles twice", events);
  expect_error("a.jsonl", one + decided(4, 0, 0, "[0.5,0.5]"), "4", "is there twice", events);
  expect_error("a.jsonl", created() + decided(2, 0, 0, "[0,1]") + settled(3, 0, "reward"), "2", "the propensity is 0",
               events);
  expect_error("a.jsonl", created(), "", "no rounds", events);
  expect_error("unknown.txt", "hello\n", "", "cannot tell the format");
}

}  // namespace
}  // namespace pits::test
