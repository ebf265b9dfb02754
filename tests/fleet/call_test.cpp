// Calls between servers as bytes: frozen, since servers of two versions may meet in one database.
#include "pits/fleet/call.h"

#include "experiment/expect_error.h"
#include "fleet/cluster.h"
#include "log/groups.h"

namespace pits::test {
namespace {

const std::string fixtures = std::string(PITS_TEST_DIR) + "/fleet/fixtures";

// One of each kind, with every field of its own.
std::vector<Call> all_calls() {
  Decided decided;
  decided.id = 4711;
  decided.action = 1;
  decided.x = {1.0F, -0.5F};
  decided.propensities = {0.25F, 0.75F};
  decided.propensity_error = 0.125F;
  decided.key = "cart 1";
  decided.context = R"({"age": 31})";
  decided.model = 27;
  decided.engine = "another";
  Restored restored;
  static_cast<Decided&>(restored) = decided;
  restored.utc = 1'800'000'000'000'000;
  std::vector<Call> calls(8);
  for (std::size_t kind = 0; kind < calls.size(); ++kind) calls[kind].kind = static_cast<CallKind>(kind);
  calls[0].decided = std::make_shared<const Decided>(decided);
  calls[0].waits = false;
  calls[1].rewards = {{7, 0.5F, "click"}, {4711, 1.0F, "", std::make_shared<const Restored>(restored)}};
  calls[2].rewards = calls[3].rewards = {{8, 0.0F}};
  calls[4].actions = {"tea", "milk"};
  calls[5].number = 2;
  calls[6].config = {{"rewards", "sum"}, {"window", "600"}};
  calls[7].number = 12;
  return calls;
}

std::vector<CallAnswer> all_answers() {
  return {{.answers = {Answer::accepted, Answer::duplicate, Answer::expired, Answer::unknown, Answer::full}},
          {.decided = all_calls()[0].decided},
          {.number = 3},
          {.refusal = "bad input"},
          {.failure = "not carried out"}};
}

void compare(const std::string& file, const std::string& bytes) {
  EXPECT_EQ(bytes, bytes_of(fixtures + file)) << "the list of fields has changed: so must call_version";
}

TEST(Call, HasTheFrozenBytes) {
  compare("/calls-1.bin", packed(all_calls()));
  compare("/answers-1.bin", packed(all_answers()));
}

TEST(Call, ComesBackAsItWas) {
  const auto calls = unpacked<std::vector<Call>>(bytes_of(fixtures + "/calls-1.bin"));
  ASSERT_EQ(calls.size(), 8U);
  EXPECT_EQ(calls[0].decided->context, R"({"age": 31})");
  EXPECT_EQ(calls[0].decided->engine, "another");
  EXPECT_EQ(calls[1].rewards.at(1).record->utc, 1'800'000'000'000'000);
  EXPECT_EQ(calls[1].rewards.at(0).key, "click");
  EXPECT_EQ(calls[4].actions, (std::vector<std::string>{"tea", "milk"}));
  EXPECT_EQ(calls[7].number, 12U);
  EXPECT_EQ(packed(calls), packed(all_calls()));
  const auto answers = unpacked<std::vector<CallAnswer>>(bytes_of(fixtures + "/answers-1.bin"));
  EXPECT_EQ(answers.at(0).answers.at(4), Answer::full);
  EXPECT_EQ(answers.at(4).failure, "not carried out");
}

TEST(Call, OfAnotherVersionIsNotTakenForThisOne) {
  std::string bytes = packed(all_calls());
  bytes[0] = 9;
  const auto read = [&] { unpacked<std::vector<Call>>(bytes); };
  expect_mentions(message_of(read, ErrorKind::failed), {"version 9", "version 1"});
  bytes = packed(all_calls());
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    EXPECT_THROW(unpacked<std::vector<Call>>(bytes.substr(0, size)), Error) << size;
  }
}

}  // namespace
}  // namespace pits::test
