// The index of decisions, its recovery point and the keys are caches of the events. Damage to any of them changes no
// answer, and pits log check finds it.
#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "log/service.h"
#include "log/shop.h"
#include "pits/core/damaged.h"
#include "pits/core/random.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

constexpr DecisionId decisions = 40;

// Every page is written soon, and only one is in memory.
struct SmallShop : Shop {
  SmallShop() : Shop({.rewards = RewardRule::first, .window = 600}, {.index_pages = 1, .recovery_events = 5}) {
    in_group([](Ledger& l) { return l.reserve_ids(100'000); });
    for (DecisionId id = 0; id < decisions; ++id) {
      decide(id, id % 8 == 3 ? "visit-" + std::to_string(id) : "");
      if (id % 4 == 0) reward(id, 1.0F);
      if (id % 4 == 1) cancel(id);
    }
    for (DecisionId id = 90'000; id < 90'010; ++id) decide(id);  // of other pages, so that the first is written
  }
};

// What became of the first page's decisions, by the rules above.
Standing standing_of(DecisionId id) {
  if (id >= decisions) return Standing::unknown;
  return id % 4 == 0 ? Standing::rewarded : id % 4 == 1 ? Standing::cancelled : Standing::decided;
}

void expect_right(Ledger& ledger, const std::string& where) {
  for (DecisionId id = 0; id < ids_per_page; ++id) ASSERT_EQ(ledger.standing(id).standing, standing_of(id)) << where;
}

TEST(Index, APageThatIsDamagedAnywhereIsMadeAgain) {
  SmallShop shop;
  const std::string whole = shop.store.page(0);
  ASSERT_EQ(read_page(0, whole)[0] & 7U, static_cast<std::uint64_t>(Standing::rewarded));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 1 << i % 8);
    ASSERT_THROW(read_page(0, bytes), Damaged) << i;
    if (i % 16 != 0) continue;
    shop.store.commit({.pages = {{0, bytes}}});
    shop.open();
    expect_right(*shop.ledger, "byte " + std::to_string(i));
    shop.look();
    EXPECT_EQ(shop.ledger->counts().mended, 1U);
  }
  for (const std::size_t size : {1U, 9U, 4095U, 4104U}) EXPECT_THROW(read_page(0, whole.substr(0, size)), Damaged);
  EXPECT_THROW(read_page(1, whole), Damaged) << "it is another page's";
}

TEST(Index, ADamagedPageSettlesNothingTwice) {
  SmallShop shop;
  for (const std::size_t at : {9U, 100U, 4000U}) {
    std::string bytes = shop.store.page(0);
    bytes[at] ^= 7;
    shop.store.commit({.pages = {{0, bytes}}});
    shop.open();
    EXPECT_EQ(shop.reward(0, 1.0F), Answer::duplicate);
    EXPECT_EQ(shop.reward(1, 1.0F), Answer::expired);
  }
  shop.clock.pass(601);
  shop.look();
  EXPECT_EQ(shop.settled().size(), decisions + 10U);
  EXPECT_EQ(shop.store.page(0), page_bytes(0, read_page(0, shop.store.page(0)))) << "it is written again";
  EXPECT_EQ(check_log(shop.store).settled, decisions + 10U);
}

TEST(Index, ARecoveryPointThatIsDamagedAnywhereIsNotUsed) {
  SmallShop shop;
  const std::string whole = shop.store.recovery();
  ASSERT_GT(Ledger::recovery_start(shop.store), 0U);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 1 << i % 8);
    shop.store.commit({.recovery = bytes});
    EXPECT_THROW(Ledger::recovery_start(shop.store), Error) << i;
    shop.open();
    expect_right(*shop.ledger, "byte " + std::to_string(i));
    ASSERT_EQ(shop.ledger->reserved_ids(), 100'000U);
  }
  shop.store.commit({.recovery = whole.substr(1)});
  expect_mentions(message_of([&] { check_log(shop.store); }), {"recovery point", "not a file saved by pits"});
  shop.store.commit({.recovery = whole.substr(0, whole.size() - 1) + "?"});
  expect_mentions(message_of([&] { check_log(shop.store); }), {"recovery point", "damaged"});
}

// Of logs that were written before there were checksums.
TEST(Index, OlderPagesAreRead) {
  SmallShop shop;
  const IndexPage page = read_page(0, shop.store.page(0));
  shop.store.commit({.pages = {{0, std::string(reinterpret_cast<const char*>(page.data()), sizeof page)}}});
  shop.open();
  expect_right(*shop.ledger, "an older page");
  shop.look();
  EXPECT_EQ(shop.ledger->counts().mended, 0U);
  EXPECT_EQ(check_log(shop.store).decisions, decisions + 10U);
}

TEST(Index, WhereEventsWereDroppedADamagedPageIsAnError) {
  SmallShop shop;
  const auto head = shop.store.group(1).value();
  GroupWriter summary;
  for (EventNumber n = 1; n <= head.last(); ++n) {
    std::visit([&](const auto& e) { summary.add(e); }, head.event(n));
  }
  shop.store.drop_events(3, summary.finish(head.time()), {});
  std::string bytes = shop.store.page(0);
  bytes[50] ^= 1;
  shop.store.commit({.pages = {{0, bytes}}});
  shop.open();
  for (int turn = 0; turn < 2; ++turn) {
    expect_mentions(message_of([&] { shop.reward(1, 1.0F); }),
                    {"page 0 of the index", "damaged", "dropped", "restore a backup"});
    shop.ledger->abandon_group();
  }
}

TEST(Index, CheckComparesItWithTheEvents) {
  SmallShop shop;
  EXPECT_NO_THROW(check_log(shop.store));
  const IndexPage page = read_page(0, shop.store.page(0));
  Stream random({.seed = 4, .purpose = Purpose::target_sample});
  for (int i = 0; i < 200; ++i) {  // pages with a right checksum
    IndexPage wrong = page;
    wrong[random.index(ids_per_page)] ^= std::uint64_t{1} << random.index(64);
    shop.store.commit({.pages = {{0, page_bytes(0, wrong)}}});
    expect_mentions(message_of([&] { check_log(shop.store); }), {"index of decisions", "decision "});
  }
  shop.store.commit({.pages = {{0, shop.store.page(0).substr(1)}}});
  expect_mentions(message_of([&] { check_log(shop.store); }), {"page 0", "damaged"});
  shop.store.commit({.pages = {{0, ""}}});
  expect_mentions(message_of([&] { check_log(shop.store); }), {"decision 0 is unknown"});
}

TEST(Index, AKeyThatNamesAnotherDecisionIsDamage) {
  SmallShop shop;
  shop.store.rewrite(1, shop.store.bytes(1), {"visit-3"});
  expect_mentions(message_of([&] { check_log(shop.store); }), {"the key of decision 3 is not known"});
  shop.store.commit({.keys = {{"visit-3", 4}}});
  expect_mentions(message_of([&] { check_log(shop.store); }), {"the key of decision 3 is that of decision 4"});
  expect_mentions(message_of([&] { shop.decide(50, "visit-3"); }), {"a key names decision 4, which does not have it"});
}

TEST(Index, AServiceSaysThatItWasDamaged) {
  Service service(live_setup("uniform", {.rewards = RewardRule::first}));
  service.open({.index_pages = 1, .recovery_events = 0});
  const DecisionId id = service.live->decide(std::vector<float>(context_size)).id;
  service.live->reward({id, 1.0F});
  service.live->reward({id + 5'000, 1.0F});
  service.live->flush();
  service.live.reset();
  std::string bytes = service.store->page(id / ids_per_page);
  ASSERT_FALSE(bytes.empty());
  bytes.back() ^= 1;
  service.store->commit({.pages = {{id / ids_per_page, bytes}}});
  service.open();
  EXPECT_EQ(service.live->reward({id, 1.0F}), Answer::duplicate);
  service.live->decide(std::vector<float>(context_size));
  service.live->flush();
  expect_mentions(service.live->status().problem, {"1 pages of the index of decisions were damaged"});
}

}  // namespace
}  // namespace pits::test
