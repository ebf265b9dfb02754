// A log that is damaged or cannot be read while a bandit uses it, and decisions that are too large to wait for its
// disk.
#include <gtest/gtest.h>

#include <future>

#include "experiment/expect_error.h"
#include "log/service.h"
#include "pits/core/damaged.h"

namespace pits::test {
namespace {

const std::vector<float> x(context_size, 0.5F);

std::exception_ptr error_of(LiveBandit& live, std::vector<Reward> rewards) {
  std::promise<std::exception_ptr> told;
  live.reward(std::move(rewards), [&](const std::vector<Answer>&, const std::exception_ptr& e) { told.set_value(e); });
  return told.get_future().get();
}

TEST(Damage, RefusesABatchAsAWholeAndBlamesNobody) {
  Service service(live_setup("lin-ts", {.propensity_draws = 20, .rewards = RewardRule::sum, .window = 600}));
  service.open({.tallies = 1, .tally_bytes = 1});
  const DecisionId damaged = service.live->decide(x).id;
  service.live->reward({damaged, 1.0F, "first"});
  const EventNumber of_damaged = service.live->status().committed;
  const DecisionId good = service.live->decide(x).id, other = service.live->decide(x).id;
  service.live->reward({other, 1.0F, "k"});  // what is known of the first decision has to be read again
  service.live->catch_up();
  service.store->damage(of_damaged);
  for (int turn = 0; turn < 2; ++turn) {
    const std::exception_ptr error = error_of(*service.live, {{good, 1.0F}, {damaged, 1.0F, "second"}});
    ASSERT_TRUE(error);
    EXPECT_THROW(std::rethrow_exception(error), Damaged);
  }
  EXPECT_EQ(service.live->status().durable.rewards, 2U);  // as before
  expect_mentions(service.live->status().store_problem, {"damaged", "checksum"});
  EXPECT_EQ(service.live->reward({good, 1.0F}), Answer::accepted);
  EXPECT_EQ(service.live->status().store_problem, "");
  service.store->damage(of_damaged);
  service.clock.pass(600);
  while (service.live->status().durable.settled < 3) service.live->flush();
  for (const Settled& settled : all_of<Settled>(*service.store)) EXPECT_EQ(settled.value, 1.0F) << settled.id;
}

TEST(Damage, TokensOfOtherDecisionsRefuseTheirBatch) {
  Service service(live_setup("lin-ts"));
  const DecisionId id = service.live->decide(x).id;
  Restored record{};
  static_cast<Decided&>(record) = service.live->make(x);
  const std::vector<Reward> rewards = {{id, 1.0F}, {id + 100, 1.0F, "", std::make_shared<const Restored>(record)}};
  expect_mentions(message_of([&] { service.live->reward(rewards); }), {"the token is that of decision"});
  EXPECT_EQ(service.live->reward({id, 1.0F}), Answer::accepted);
}

TEST(Damage, AChangeOfActionsDoesNotWaitForALearnerThatIsStuck) {
  Service service(live_setup("lin-ts"));
  service.open({.patience = std::chrono::milliseconds(100)});
  service.live->catch_up();
  service.store->fails_to_read = true;
  EXPECT_EQ(service.live->add_actions({"e"}), 4U);
  EXPECT_FALSE(service.live->catch_up(std::chrono::milliseconds(100)));
  while (service.live->status().learning_problem.empty()) std::this_thread::yield();
  expect_mentions(service.live->status().problem, {"Input/output error"});
  service.store->fails_to_read = false;
  EXPECT_TRUE(service.live->catch_up());
  while (!service.live->status().learning_problem.empty()) std::this_thread::yield();
  EXPECT_EQ(service.live->action("e"), 4U);
}

// 256 MB of decisions wait for a disk that fails; further ones are counted.
TEST(Damage, DecisionsThatWaitAreBoundedInBytes) {
  constexpr std::size_t size = 8U << 20U, most = 256U << 20U;
  Service service(live_setup("lin-ts"));
  service.live->flush();
  service.store->fails = true;
  std::uint64_t taken = 0, refused = 0;
  for (std::size_t i = 0; i < most / size + 4; ++i) {
    Decided made = service.live->make(x);
    made.context.assign(size, ' ');
    ++(service.live->write(std::move(made)) ? taken : refused);
  }
  EXPECT_EQ(taken, most / size - 1);  // a little more than the context waits, too
  EXPECT_EQ(service.live->status().unlogged, refused);
  service.store->fails = false;
  while (service.live->status().queued > 0) service.live->flush();
  EXPECT_EQ(service.live->status().durable.decisions, taken);
  Decided made = service.live->make(x);
  made.context.assign(size, ' ');
  EXPECT_TRUE(service.live->write(std::move(made)));  // there is room again
}

}  // namespace
}  // namespace pits::test
