// Calls of other servers, carried out in the books of the server that learns.
#include "pits/fleet/call.h"

#include "experiment/expect_error.h"
#include "log/service.h"

namespace pits::test {
namespace {

// A key that is given twice before its first decision is in the log is nobody's fault: the second caller waits.
TEST(Calls, ADecisionWhoseKeyIsInTheSameGroupComesAgain) {
  const auto store = std::make_unique<MemoryStore>();
  FakeClock clock;
  LiveBandit::create(*store, live_setup("uniform"), clock);
  const Learner learner(*store);
  Decider decider(created_event(*store), learner.bandit().policy().copy(), 1, [](bool) { return DecisionId{7}; });
  Ledger ledger(*store, clock);
  const auto asked = [&](DecisionId id) {
    const std::vector<float> x(context_size, 0.5F);
    Decided made = decider.make(x, {}, {.key = "visit"}, nullptr, true);
    made.id = id;
    return Call{.kind = CallKind::decided, .decided = std::make_shared<const Decided>(std::move(made))};
  };
  ledger.begin_group();
  EXPECT_EQ(perform(ledger, decider, asked(1), true).decided, nullptr);
  EXPECT_THROW(perform(ledger, decider, asked(2), true), NotYet);
  message_of([&] { perform(ledger, decider, asked(2), false); }, ErrorKind::failed);  // no refusal either
  ledger.commit();
  ledger.begin_group();
  const CallAnswer again = perform(ledger, decider, asked(2), true);
  ASSERT_NE(again.decided, nullptr);
  EXPECT_EQ(again.decided->id, 1U);
  EXPECT_EQ(again.refusal, "");
}

}  // namespace
}  // namespace pits::test
