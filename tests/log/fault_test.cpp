// A live bandit on a disk that fails, and on frozen files of the first format.
#include <gtest/gtest.h>

#include "bandit/small_bandit.h"
#include "experiment/scratch.h"
#include "log/faulty_disk.h"
#include "log/memory_store.h"
#include "pits/log/audit.h"
#include "pits/log/live_bandit.h"
#include "pits/log/sqlite_store.h"

namespace pits::test {
namespace {

struct DiskFault {
  std::string name;
  Call call;
  int code;
};

class LiveOnABadDisk : public testing::TestWithParam<DiskFault> {};

// Two clients send every reward until it is answered. Whatever was answered is in the log once, however often and
// wherever the disk fails: in the log, in the snapshots, in a checkpoint.
TEST_P(LiveOnABadDisk, AnsweredRewardsAreThereOnce) {
  FaultyDisk disk;
  for (long after = 3; after < 40; after += 6) {
    const Scratch scratch;
    std::map<DecisionId, float> answered;
    {
      auto store = std::make_unique<SqliteStore>(scratch / "log");
      LiveBandit::create(*store, {.agent = "lin-ts",
                                  .context_size = context_size,
                                  .actions = {"a", "b", "c", "d"},
                                  .config = {.propensity_draws = 5, .rewards = RewardRule::first}});
      LiveBandit live(std::move(store));
      disk.fail(GetParam().call, GetParam().code, after, 4);
      std::mutex lock;
      std::vector<std::thread> clients;
      for (int c = 0; c < 2; ++c) {
        clients.emplace_back([&, c] {
          for (const Event& e : random_events(12, static_cast<std::uint64_t>(c))) {
            const Choice choice = live.decide(e.x);
            for (bool done = false; !done;) {
              try {
                const Answer answer = live.reward({choice.id, e.reward, "r"});
                done = answer == Answer::accepted || answer == Answer::duplicate;
              } catch (const Error& error) {
                EXPECT_NE(std::string(error.what()).find("events.db"), std::string::npos) << error.what();
              }
            }
            const std::scoped_lock guard(lock);
            answered[choice.id] = e.reward;
          }
        });
      }
      for (std::thread& client : clients) client.join();
    }
    disk.heal();
    std::map<DecisionId, float> settled;
    {
      const SqliteStore store(scratch / "log", Access::read);
      check_log(store);
      for (const Settled& s : all_of<Settled>(store)) settled[s.id] = s.value;
      EXPECT_EQ(verify_log(store).different, 0U);
    }
    EXPECT_EQ(settled, answered);
    LiveBandit again(std::make_unique<SqliteStore>(scratch / "log"));
    Learner replay(again.store());
    replay.follow(again.store().last());
    EXPECT_EQ(again.saved(), replay.saved());
  }
  EXPECT_GT(disk.failures(), 4);
}

INSTANTIATE_TEST_SUITE_P(Disk, LiveOnABadDisk,
                         testing::Values(DiskFault{"Full", Call::write, SQLITE_FULL},
                                         DiskFault{"Write", Call::write, SQLITE_IOERR_WRITE},
                                         DiskFault{"Sync", Call::sync, SQLITE_IOERR_FSYNC}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace pits::test
