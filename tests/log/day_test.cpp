// A simulated day: decisions that wait an hour, more of them than memory holds, under a clock that jumps.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "experiment/scratch.h"
#include "log/memory_store.h"
#include "pits/log/learner.h"
#include "pits/log/ledger.h"
#include "pits/log/sqlite_store.h"

namespace pits::test {
namespace {

double resident_megabytes() {
  std::ifstream status("/proc/self/statm");
  long total = 0, resident = 0;
  status >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

class Day {
 public:
  Day() {
    Created created;
    created.agent = "uniform";
    created.context_size = 20;
    created.actions = {"a", "b"};
    created.config = as_text({.rewards = RewardRule::first, .window = 3600});
    Ledger::create(store_, clock_, created);
    ledger_.emplace(store_, clock_, LedgerLimits{.index_pages = 4, .tallies = 1000, .recovery_events = 5000});
    learner_.emplace(store_);
  }

  // A group per minute: 150 decisions, and rewards of some that were made in the last two hours.
  void minute() {
    clock_.pass(60);
    if (++minutes_ % 50 == 0) clock_.jump(minutes_ % 100 == 0 ? 90'000 : -90'000);
    ledger_->begin_group();
    while (ledger_->settle_expired(10'000)) {
    }
    Decided decided;
    decided.x.assign(20, 0.5F);
    decided.propensities = {0.5F, 0.5F};
    for (int i = 0; i < 150; ++i) {
      decided.id = next_++;
      ledger_->decide(decided);
    }
    for (int i = 0; i < 50; ++i) {
      const DecisionId age = random_() % 18'000;
      if (age <= next_ - 1) ++answers_[static_cast<int>(ledger_->reward({next_ - 1 - age, 1.0F, "r"}))];
    }
    ledger_->commit();
    learner_->follow(store_.last());
  }

  std::uint64_t decisions() const { return next_; }
  std::uint64_t answers(Answer answer) const { return answers_[static_cast<int>(answer)]; }
  std::uint64_t learned() const { return learner_->bandit().agent().events(); }

 private:
  Scratch scratch_;
  SqliteStore store_{scratch_ / "log"};
  FakeClock clock_;
  std::optional<Ledger> ledger_;
  std::optional<Learner> learner_;
  std::mt19937 random_{3};
  DecisionId next_ = 0;
  int minutes_ = 0;
  std::uint64_t answers_[4] = {};
};

TEST(Day, NeedsNoMoreMemoryThanItsFirstHours) {
  Day day;
  for (int i = 0; i < 3 * 60; ++i) day.minute();
  [[maybe_unused]] const double before = resident_megabytes();
  for (int i = 3 * 60; i < 24 * 60; ++i) day.minute();
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(resident_megabytes() - before, 6.0) << "MB, beside " << before;
#endif
  EXPECT_EQ(day.decisions(), 24 * 60 * 150U);
  EXPECT_EQ(day.answers(Answer::unknown), 0U);
  // About half of the rewards are late. What is older than an hour has settled, what is younger waits or has a reward.
  EXPECT_GT(day.answers(Answer::accepted), 20'000U);
  EXPECT_GT(day.answers(Answer::expired), 20'000U);
  EXPECT_LE(day.decisions() - day.learned(), 61 * 150U);
}

}  // namespace
}  // namespace pits::test
