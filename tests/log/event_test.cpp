// The binary form of events. Fixtures are frozen: a pits of any later version reads them.
#include "pits/log/group.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "pits/core/io/sha256.h"

namespace pits::test {
namespace {

const GroupTime noon = {.utc = 1'800'000'000'123'456, .elapsed = 77};

// One event of every kind, with values that no two fields share.
std::vector<pits::Event> every_kind() {
  return {
      Created{"lin-ts,lambda=0.25", 3, 42, {"a", "b"}, {{"window", "600"}, {"floor", "0.02"}}, "{}", "0.1.0 AVX2"},
      IdsReserved{.end = 65536},
      Decided{.id = 7,
              .key = "visit-9",
              .model = 2,
              .action = 1,
              .active = false,
              .floor = 0.02F,
              .propensity_error = 0.125F,
              .propensities = {0.25F, 0.75F},
              .allowed = {1, 1},
              .x = {1.0F, -2.5F, 0.0F},
              .features = {3.0F, 4.0F},
              .context = "{\"age\":30}"},
      Activated{.id = 7, .previous = 3},
      Rewarded{.id = 7, .previous = 4, .value = 0.5F, .key = "click"},
      Settled{.id = 7, .previous = 5, .value = 0.5F, .reason = SettleReason::reward},
      ActionsAdded{.first = 2, .names = {"c"}},
      ActionRetired{.action = 0},
      ConfigChanged{.config = {{"window", "60"}}},
      EngineChanged{.engine = "0.2.0 AVX3"},
      Erased{.base = 10, .decisions = 1, .reason = "older than 30 days"},
  };
}

std::string group_of(const std::vector<pits::Event>& events) {
  GroupWriter writer;
  for (const pits::Event& event : events) std::visit([&](const auto& e) { writer.add(e); }, event);
  return writer.finish(noon);
}

std::string fields_of(const pits::Event& event) {
  return std::visit(
      [](auto e) {
        Archive archive;
        e.visit([&](std::string_view name, auto& field) {
          std::string text(name);
          archive(text, field);
        });
        if constexpr (requires { e.visit_added([](std::string_view, auto&) {}); }) {
          e.visit_added([&](std::string_view, auto& field) { archive(field); });
        }
        return archive.bytes();
      },
      event);
}

std::vector<pits::Event> trainings() {
  return {TrainingBegan{.observations = 512}, TrainingAdopted{.began = 7, .problem = "diverged"},
          TrainingSkipped{.began = 9, .reason = "the log was closed"}};
}

std::vector<pits::Event> teaching() {
  return {Taught{.agent = "lin-ts", .seed = 42, .events = 1000, .decisions = 300, .left_out = 20}};
}

std::vector<pits::Event> losses() {
  Restored restored;
  static_cast<Decided&>(restored) = std::get<Decided>(every_kind()[2]);
  restored.utc = 1'799'999'999'000'001;
  return {restored, Settled{.id = 7, .previous = 3, .value = 2.0F, .reason = SettleReason::lost},
          Gap{.decisions = 123'456}};
}

// Version 2 of events that were there before.
std::vector<pits::Event> added_fields() {
  Decided decided = std::get<Decided>(every_kind()[2]);
  decided.engine = "1.0.0 b AVX2";
  return {decided, Erased{.base = 10, .decisions = 1, .reason = "event_retention", .dropped = 8}};
}

TEST(Events, ComeBackAsTheyWere) {
  auto events = every_kind();
  for (const auto& later : {trainings(), teaching(), losses(), added_fields()})
    events.insert(events.end(), later.begin(), later.end());
  const GroupReader group(group_of(events), 101);
  EXPECT_EQ(group.first(), 101U);
  EXPECT_EQ(group.last(), 100 + events.size());
  EXPECT_EQ(group.time().utc, noon.utc);
  EXPECT_EQ(group.time().elapsed, noon.elapsed);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const pits::Event found = group.event(101 + i);
    EXPECT_EQ(found.index(), events[i].index());
    EXPECT_EQ(fields_of(found), fields_of(events[i])) << i;
  }
}

// Memory that is used again holds nothing of the decision before.
TEST(Events, AClearedDecisionIsANewOne) {
  Decided decided = std::get<Decided>(added_fields()[0]);
  EXPECT_NE(fields_of(decided), fields_of(Decided()));
  decided.clear();
  EXPECT_EQ(fields_of(decided), fields_of(Decided()));
}

// Written byte by byte from the layout that event.h states.
TEST(Events, TheLayoutIsTheStatedOne) {
  GroupWriter writer;
  writer.add(Settled{.id = 0x0102, .previous = 5, .value = 1.0F, .reason = SettleReason::expired});
  const std::string bytes = writer.finish({.utc = 1, .elapsed = 2});
  const auto number = [](std::uint64_t value, int size) {
    std::string text;
    for (int i = 0; i < size; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
  };
  const std::string fields = number(0x0102, 8) + number(5, 8) + number(0x3f800000, 4) + number(1, 1);
  const std::string expected = number(1, 1) + number(1, 8) + number(2, 8) + number(1, 4) +  //
                               number(6, 1) + number(1, 1) + number(fields.size(), 4) + fields;
  EXPECT_EQ(bytes.substr(0, bytes.size() - 8), expected);
}

TEST(Events, TheFrozenFixtureIsRead) {
  const std::string frozen = bytes_of(std::string(PITS_TEST_DIR) + "/log/fixtures/group-1.bin");
  EXPECT_EQ(frozen, group_of(every_kind())) << "a changed layout needs a new version and a new fixture beside this one";
}

// The events that came later, with files of their own.
TEST(Events, TheFrozenLaterEventsAreRead) {
  for (const auto& [file, events] : {std::pair{"group-2.bin", trainings()},
                                     {"group-3.bin", teaching()},
                                     {"group-4.bin", losses()},
                                     {"group-5.bin", added_fields()}}) {
    const std::string frozen = bytes_of(std::string(PITS_TEST_DIR) + "/log/fixtures/" + file);
    EXPECT_EQ(frozen, group_of(events)) << "a changed layout needs a new version and a new fixture beside this one";
  }
}

TEST(Events, ThatRecordADecisionAreKnown) {
  auto events = every_kind();
  for (const auto& later : {trainings(), teaching(), losses()}) events.insert(events.end(), later.begin(), later.end());
  int found = 0;
  for (pits::Event& event : events) {
    const Decided* decided = decision_in(std::as_const(event));
    EXPECT_EQ(decided, decision_in(event));
    EXPECT_EQ(decided != nullptr, std::holds_alternative<Decided>(event) || std::holds_alternative<Restored>(event));
    found += decided != nullptr && decided->key == "visit-9" ? 1 : 0;
  }
  EXPECT_EQ(found, 2);
}

TEST(Events, EveryFlippedBitIsNoticed) {
  const std::string whole = group_of(every_kind());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    expect_mentions(message_of([&] { GroupReader(damaged, 5); }), {"from number 5", "checksum"});
  }
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_THROW(GroupReader(whole.substr(0, size), 5), Error);
}

// Behind a checksum that is right, as a newer version or a hostile file would have it.
std::string resealed(std::string bytes) {
  bytes.resize(bytes.size() - 8);
  Sha256 sha;
  sha.add(bytes);
  const auto digest = sha.finish();
  return bytes.append(reinterpret_cast<const char*>(digest.data()), 8);
}

TEST(Events, NewerOnesAreNamed) {
  std::string bytes = group_of({IdsReserved{.end = 9}});
  bytes[21] = 99;  // the tag of the first event
  const GroupReader unknown(resealed(bytes), 3);
  expect_mentions(message_of([&] { unknown.event(3); }), {"event 3", "unknown tag 99", "newer"});
  bytes[21] = IdsReserved::tag;
  bytes[22] = 2;
  const GroupReader newer(resealed(bytes), 3);
  expect_mentions(message_of([&] { newer.event(3); }), {"ids_reserved", "version 2"});
}

RC_GTEST_PROP(Events, AnyBytesAreReadOrRefused, (std::string bytes, std::uint8_t place, char value)) {
  std::string group = group_of(every_kind());
  group[place % (group.size() - 8)] = value;
  for (const std::string& text : {bytes, resealed(group)}) {
    try {
      const GroupReader reader(text, 1);
      for (EventNumber n = 1; n <= reader.last(); ++n) reader.event(n);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace pits::test
