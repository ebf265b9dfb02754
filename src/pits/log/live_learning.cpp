// The learning thread of a live bandit: it follows the log, publishes what it has learned, and keeps snapshots.
#include "pits/core/interrupt.h"
#include "pits/log/live_bandit.h"

namespace pits {
namespace {

constexpr EventNumber events_at_once = 256;    // learned before decisions know them
constexpr EventNumber snapshot_events = 1000;  // at least so many between two snapshots
constexpr Microseconds snapshot_pause = 20;    // times what the last one took
constexpr std::size_t kept_snapshots = 2;      // besides the bases
constexpr std::chrono::milliseconds retry{100}, look_at_interrupts{50};

}  // namespace

void LiveBandit::committed(EventNumber number) {
  {
    const std::scoped_lock lock(mutex_);
    committed_ = number;
  }
  to_learner_.notify_one();
}

void LiveBandit::learn() {
  for (EventNumber until = 0;;) {
    {
      std::unique_lock lock(mutex_);
      to_learner_.wait(lock, [&] { return stopping_ || committed_ > learned_to_; });
      if (stopping_) return;
      until = std::min(committed_, learned_to_ + events_at_once);
    }
    try {
      {
        const std::scoped_lock lock(learning_);
        learner_.follow(until);
      }
      report(learner_.refusal());
      publish();
      keep_snapshot_if_due();
    } catch (const std::exception& e) {  // of the store: tried again
      report(e.what());
      std::unique_lock lock(mutex_);
      to_learner_.wait_for(lock, retry, [&] { return stopping_; });
    }
  }
}

void LiveBandit::publish() {
  published_.publish(
      std::make_unique<const Published>(Published{learner_.bandit().policy().copy(), learner_.number()}));
  {
    const std::scoped_lock lock(mutex_);
    learned_to_ = learner_.number();
    refused_ = learner_.refused();
  }
  learned_.notify_all();
}

void LiveBandit::report(const std::string& problem) {
  const std::scoped_lock lock(mutex_);
  problem_ = problem;
}

void LiveBandit::keep_snapshot_if_due() {
  const bool paused = system_clock().steady() - snapshot_at_ >= snapshot_pause * snapshot_cost_;
  if (learner_.number() - snapshot_number_ >= snapshot_events && paused) keep_snapshot(false);
}

// Older snapshots are dropped, but for some and for the bases.
void LiveBandit::keep_snapshot(bool base) {
  const Microseconds start = system_clock().steady();
  store_->keep({.number = learner_.number(), .engine = engine_name(), .base = base, .bytes = learner_.saved()});
  std::vector<EventNumber> others;
  for (const Snapshot& snapshot : store_->snapshots()) {
    if (!snapshot.base) others.push_back(snapshot.number);
  }
  for (std::size_t i = 0; i + kept_snapshots < others.size(); ++i) store_->drop_snapshot(others[i]);
  snapshot_number_ = learner_.number();
  snapshot_at_ = system_clock().steady();
  snapshot_cost_ = snapshot_at_ - start;
}

void LiveBandit::catch_up() {
  std::unique_lock lock(mutex_);
  const EventNumber until = committed_;
  while (!learned_.wait_for(lock, look_at_interrupts, [&] { return learned_to_ >= until; })) {
    lock.unlock();
    check_interrupt();
    lock.lock();
  }
}

LiveStatus LiveBandit::status() const {
  const std::string store_problem = writer_->problem();
  const std::scoped_lock lock(mutex_);
  return {.committed = committed_,
          .learned = learned_to_,
          .queued = writer_->queued(),
          .refused = refused_,
          .problem = store_problem.empty() ? problem_ : store_problem};
}

}  // namespace pits
