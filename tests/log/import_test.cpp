// Logs that come from an export, and how often verify reads them.
#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "log/service.h"
#include "pits/log/audit.h"
#include "pits/log/erase.h"
#include "pits/log/event_json.h"

namespace pits::test {
namespace {

MemoryStore& import_all(MemoryStore& to, const Store& from) {
  LogImport import(to);
  for_each_event(from, [&](EventNumber number, const GroupTime& time, const pits::Event& event) {
    import.add(event_from_json(to_json({.number = number, .time = time, .event = event})));
  });
  import.finish();
  return to;
}

// What was learned of them is in snapshots, which are not exported.
TEST(LogImport, RefusesOutcomesWhoseContextsWereErased) {
  Service service(live_setup("lin-ts"));
  std::vector<DecisionId> ids;
  for (const Event& e : random_events(4, 3)) ids.push_back(service.live->decide(e.x).id);
  service.live->cancel(ids[0]);
  for (const std::size_t i : {1U, 2U}) service.live->reward({ids[i], 1.0F});
  service.live->saved();
  service.live.reset();
  MemoryStore& store = *service.store;
  const auto erase = [&](DecisionId chosen) {
    return erase_contexts(store, "asked", [&](DecisionId id, const GroupTime&) { return id == chosen; });
  };
  EXPECT_EQ(erase(ids[0]), 1U);
  MemoryStore copy, refused;
  EXPECT_EQ(check_log(import_all(copy, store)).decisions, 4U) << "nothing was learned of a cancelled one";
  Learner learner(copy);
  learner.follow(copy.last());
  EXPECT_EQ(learner.bandit().agent().events(), 2U);
  EXPECT_EQ(erase(ids[2]), 1U);
  expect_mentions(message_of([&] { import_all(refused, store); }),
                  {fmt::format("decision {} was erased", ids[2]), "snapshots", "copy the log's directory"});
}

// A group is read once for its decisions, not once for each of them.
TEST(Verify, ReadsAGroupOnce) {
  Service service(live_setup("uniform"));
  service.live->flush();
  service.store->fails = true;
  for (int i = 0; i < 300; ++i) service.live->decide(std::vector<float>(context_size));
  service.store->fails = false;
  service.live->flush();
  service.live->catch_up();  // the learner reads too
  const std::size_t before = service.store->groups_read;
  EXPECT_EQ(verify_log(*service.store).same, 300U);
  EXPECT_LT(service.store->groups_read - before, 60U);
}

}  // namespace
}  // namespace pits::test
