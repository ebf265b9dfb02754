// What retention erases, and what it reads to find it: compared with a plain loop over the whole log.
#include <gtest/gtest.h>

#include <set>

#include "log/shop.h"
#include "pits/core/random.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

constexpr double day = 86'400.0;
constexpr Microseconds retention = 30 * 24 * 3600 * second;

// Decisions over some months; rewards come after minutes, months or never.
struct Months {
  Shop shop;
  Stream random{{.seed = 3, .purpose = Purpose::target_sample}};
  DecisionId next = 0;
  std::set<EventNumber> erased;
  RetentionMarks marks;

  explicit Months(double window) : shop({.rewards = RewardRule::first, .window = window}) {
    shop.in_group([](Ledger& l) { return l.reserve_ids(100'000); });
  }
  void a_day() {
    for (int hour = 0; hour < 24; ++hour) {
      shop.clock.pass(day / 24);
      Decided decided;
      decided.id = next++;
      decided.x = {1.0F};
      decided.propensities = {0.5F, 0.5F};
      shop.in_group([&](Ledger& l) { return l.decide(decided); });
      const DecisionId recent = next - 1, old = random.index(static_cast<std::uint32_t>(next));
      if (random.index(2) == 0) shop.reward(recent, 1.0F);
      if (random.index(4) == 0) shop.reward(old, 0.5F);
    }
  }
  // By the definition: settled by `base`, older than the retention, not erased before.
  std::vector<EventNumber> expected(const RetentionLook& look) const {
    std::map<DecisionId, EventNumber> old;
    std::set<EventNumber> found;
    for_each_event(shop.store, [&](EventNumber number, const GroupTime& time, const pits::Event& event) {
      const Decided* decided = decision_in(event);
      if (decided != nullptr && time.elapsed < look.before) old[decided->id] = number;
      const auto* settled = std::get_if<Settled>(&event);
      if (settled != nullptr && number <= look.base && old.contains(settled->id)) found.insert(old.at(settled->id));
    });
    std::vector<EventNumber> fresh;
    std::ranges::set_difference(found, erased, std::back_inserter(fresh));
    return fresh;
  }
  // Groups that were read.
  std::size_t look() {
    const RetentionLook look{.base = shop.store.last(), .before = shop.ledger->time().elapsed - retention};
    const auto standings = [&](const std::vector<DecisionId>& ids) {
      std::vector<IndexEntry> entries;
      for (const DecisionId id : ids) entries.push_back(shop.ledger->standing(id));
      return entries;
    };
    const std::size_t before = shop.store.groups_read;
    const auto found = overdue_decisions(shop.store, look, standings, marks);
    const std::size_t read = shop.store.groups_read - before;
    EXPECT_EQ(found, expected(look));
    erased.insert(found.begin(), found.end());
    return read;
  }
};

class Retention : public testing::TestWithParam<double> {};

TEST_P(Retention, FindsWhatIsOldAndSettledAndReadsNothingTwice) {
  Months months(GetParam());
  std::size_t groups = 0;
  for (int d = 0; d < 100; ++d) {
    const EventNumber before = months.shop.store.last();
    months.a_day();
    const std::size_t read = months.look();
    groups = months.shop.store.last() - before;  // of this day, at most: a group has at least one event
    // The groups of one day twice, and the events of decisions that settled late.
    EXPECT_LT(read, 3 * groups + 40) << "day " << d;
  }
  EXPECT_GT(months.erased.size(), 500U);
  EXPECT_GT(months.shop.store.last(), 30 * groups) << "a look at the whole log reads far more";
}

INSTANTIATE_TEST_SUITE_P(Windows, Retention, testing::Values(600.0, 40 * day, 0.0),
                         [](const auto& window) { return "Seconds" + std::to_string(static_cast<int>(window.param)); });

// The marks are kept with the recovery point; where they are lost, all is looked at again and nothing is missed.
TEST(RetentionMarks, GoOnAfterARestart) {
  Months months(600.0);
  months.shop.limits.recovery_events = 100;
  months.shop.open();
  for (int d = 0; d < 45; ++d) months.a_day();
  months.look();
  months.shop.ledger->retention_marks() = months.marks;
  for (int d = 0; d < 10; ++d) months.a_day();
  months.shop.open();
  EXPECT_EQ(months.shop.ledger->retention_marks().decided, months.marks.decided);
  EXPECT_GT(months.marks.decided, 300U);
  months.look();
  months.marks = {};
  months.erased.clear();
  months.look();
}

// A recovery point of another version is no loss: the events give the books again.
TEST(Recovery, APointThatCannotBeReadIsMadeAgain) {
  Months months(600.0);
  months.shop.limits.recovery_events = 10;
  months.shop.open();
  for (int d = 0; d < 60; ++d) months.a_day();
  ASSERT_FALSE(months.shop.store.recovery().empty());
  for (const std::string& other : {std::string("?"), std::string(40, '\0'), std::string(500, '\1')}) {
    months.shop.store.commit({.recovery = other});
    months.shop.open();
    EXPECT_EQ(months.shop.ledger->last(), months.shop.store.last());
    EXPECT_EQ(months.shop.ledger->reserved_ids(), 100'000U);
    EXPECT_EQ(months.shop.ledger->actions(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(months.shop.reward(0, 1.0F),
              months.shop.settled().at(0).second == SettleReason::reward ? Answer::duplicate : Answer::expired);
  }
}

}  // namespace
}  // namespace pits::test
