// Ids of decisions: none is given twice.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "experiment/scratch.h"
#include "log/service.h"
#include "pits/log/sqlite_store.h"

namespace pits::test {
namespace {

const std::vector<float> x0 = {0.3F, -1.0F, 0.5F};

// Ids that were given after the copy was made are not in its log.
TEST(LiveBandit, AnOlderCopyOfTheFilesGivesNoIdTwice) {
  for (const bool seeded : {true, false}) {
    const Scratch scratch;
    FakeClock clock;
    std::set<DecisionId> ids;
    const auto some_decisions = [&] {
      clock.pass(3);
      LiveBandit live(std::make_unique<SqliteStore>(scratch / "log"), clock);
      for (int i = 0; i < 5; ++i) EXPECT_TRUE(ids.insert(live.decide(x0).id).second) << "turn " << ids.size() / 5;
    };
    LiveSetup setup = live_setup("uniform");
    if (!seeded) setup.seed.reset();
    {
      SqliteStore store(scratch / "log");
      LiveBandit::create(store, setup, clock);
    }
    if (seeded) some_decisions();
    std::filesystem::copy(scratch / "log", scratch / "copy", std::filesystem::copy_options::recursive);
    for (int turn = 0; turn < 3; ++turn) some_decisions();
    std::filesystem::remove_all(scratch / "log");
    std::filesystem::rename(scratch / "copy", scratch / "log");
    for (int turn = 0; turn < 3; ++turn) some_decisions();
    EXPECT_EQ(*ids.begin() == 0, seeded) << "the same seed makes the same decisions";
  }
}

}  // namespace
}  // namespace pits::test
