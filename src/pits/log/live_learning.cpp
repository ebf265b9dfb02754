// The learning thread of a live bandit: it follows the log, publishes what it has learned, and keeps snapshots.
#include "pits/core/interrupt.h"
#include "pits/core/thread_turns.h"
#include "pits/log/drop.h"
#include "pits/log/live_bandit.h"

namespace pits {
namespace {

constexpr EventNumber events_at_once = 256;               // learned before decisions know them
constexpr EventNumber snapshot_events = 1000;             // at least so many between two snapshots
constexpr Microseconds snapshot_pause = 20;               // times what the last one took
constexpr Microseconds failed_snapshot_cost = 1'000'000;  // tried again after twenty of them
constexpr Microseconds version_pause = 4;                 // the same of versions, for which a fleet's servers wait
constexpr Microseconds snapshot_age = 10'000'000;  // of a fleet: whoever takes over reads no more than that again
constexpr std::size_t kept_snapshots = 2;          // besides the bases
constexpr std::chrono::milliseconds retry{100}, look_at_interrupts{50};
constexpr std::chrono::microseconds look_again{60'000'000};  // where nothing happens
constexpr Microseconds hour = 3'600'000'000;

}  // namespace

void LiveBandit::committed(EventNumber number) {
  {
    const std::scoped_lock lock(mutex_);
    committed_ = number;
  }
  to_learner_.notify_one();
}

void LiveBandit::learn() {
  name_thread("pits learner");
  give_way();
  for (EventNumber until = 0;;) {
    {
      std::unique_lock lock(mutex_);
      const bool unpublished = shared_.model_age > 0 && learner_.number() > version_number_;
      const auto pause = unpublished ? std::chrono::microseconds(shared_.model_age) : look_again;
      to_learner_.wait_for(lock, pause, [&] { return stopping_ || look_ || committed_ > learned_to_; });
      if (stopping_) return;
      look_ = false;
      until = std::min(committed_, learned_to_ + events_at_once);
    }
    try {
      {
        const std::scoped_lock lock(learning_);
        learner_.follow(until);
      }
      report(learner_.refusal(), "");
      if (learner_.number() > learned_to_) publish();
      publish_version_if_due();
      next_training();
    } catch (const std::exception& e) {  // of the store: tried again
      report(learner_.refusal(), e.what());
      std::unique_lock lock(mutex_);
      look_ = true;
      to_learner_.wait_for(lock, retry, [&] { return stopping_; });
    }
  }
}

// Where nothing has changed since, decisions go on naming the model of before.
void LiveBandit::publish() {
  if (learner_.changed() > published_to_) {
    published_to_ = learner_.number();
    decider_->publish(learner_.bandit().policy(), learner_.number());
  }
  {
    const std::scoped_lock lock(mutex_);
    learned_to_ = learner_.number();
    refused_ = learner_.refused();
    idle_ = false;
  }
  learned_.notify_all();
}

// A snapshot is kept only where no training is under way: what is being trained is not part of it. Trainings that
// follow each other leave room for one in between.
void LiveBandit::next_training() {
  if (learner_.number() < asked_) return;
  if (learner_.training() == nullptr) {
    keep_snapshot_if_due();
    erase_if_due();
    if (learner_.training_due()) return begin_training();
    const std::scoped_lock lock(mutex_);
    idle_ = true;
    learned_.notify_all();
  } else if (!trainer_.valid()) {
    trainer_ = std::async(std::launch::async, [this, training = learner_.training()] {
      const auto tell = [this](void*) {
        const std::scoped_lock lock(mutex_);
        trained_ = look_ = true;
        to_learner_.notify_one();
      };
      const std::unique_ptr<void, decltype(tell)> at_the_end(this, tell);
      name_thread("pits trainer");
      give_way();
      training->train();
    });
  } else {
    adopt_training();
  }
}

template <class Kind>
EventNumber LiveBandit::record(const Kind& event) {
  return writer_->call([&](Ledger& ledger) { return ledger.record(event); });
}

// The event comes back to the learner, which copies the agent there. One that is skipped is due until it begins.
void LiveBandit::begin_training() {
  const EventNumber lag = status().committed - learner_.number();
  if (lag <= limits_.training_lag) {
    asked_ = record(TrainingBegan{.observations = learner_.bandit().agent().events()});
  } else if (!skipping_) {
    record(TrainingSkipped{.began = 0, .reason = fmt::format("learning is {} events behind", lag)});
  }
  skipping_ = lag > limits_.training_lag;
}

void LiveBandit::adopt_training() {
  {
    const std::scoped_lock lock(mutex_);
    if (!trained_) return;
    trained_ = false;
  }
  trainer_.get();  // where it throws, the training is tried again
  asked_ = record(TrainingAdopted{.began = learner_.training_began(), .problem = learner_.training()->problem()});
  const std::scoped_lock lock(mutex_);
  ++trainings_;
}

// What the log says of it already is learned first.
void LiveBandit::close_training() {
  if (learner_.number() < asked_) learner_.follow(asked_);
  if (learner_.training() == nullptr) return;
  if (trainer_.valid()) trainer_.wait();
  record(TrainingSkipped{.began = learner_.training_began(), .reason = "the log was closed"});
  learner_.drop_training();
}

void LiveBandit::report(const std::string& refusal, const std::string& problem) {
  const std::scoped_lock lock(mutex_);
  refusal_ = refusal;
  learning_problem_ = problem;
}

void LiveBandit::keep_snapshot_if_due() {
  const Microseconds age = system_clock().steady() - snapshot_at_;
  const EventNumber events = learner_.number() - snapshot_number_;
  const bool old = shared_.model_age > 0 && events > 0 && age >= snapshot_age;
  if ((events < snapshot_events && !old) || age < snapshot_pause * snapshot_cost_) return;
  std::string problem;
  try {
    keep_snapshot(false);
  } catch (const Error& e) {  // a cache: learning goes on without it
    problem = e.what();
    snapshot_at_ = system_clock().steady();
    snapshot_cost_ = failed_snapshot_cost;
  }
  const std::scoped_lock lock(mutex_);
  snapshot_problem_ = problem;
}

void LiveBandit::publish_version_if_due() {
  const Microseconds pause = std::max(shared_.model_age, version_pause * version_cost_);
  const bool due = shared_.model_age > 0 && learner_.number() > version_number_;
  if (due && system_clock().steady() - version_at_ >= pause) publish_version();
}

// Also while a training is under way: what is being trained decides nothing yet.
void LiveBandit::publish_version() {
  const Microseconds start = system_clock().steady();
  SharedBooks shared = writer_->call(
      [](Ledger& ledger) { return SharedBooks{.actions = ledger.actions(), .config = as_text(ledger.config())}; });
  Archive books;
  books(shared);
  store_->publish({.number = learner_.number(),
                   .engine = engine_name(),
                   .policy = learner_.bandit().saved_policy(),
                   .books = books.bytes()});
  version_number_ = learner_.number();
  version_at_ = system_clock().steady();
  version_cost_ = version_at_ - start;
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

// Contexts and events older than their retention, about thirty times in its length and at most once an hour. Their age
// is that of the log's own count of time, so that a UTC clock that jumps forward erases nothing. What has been learned
// is kept first: a replay cannot start earlier from then on.
void LiveBandit::erase_if_due() {
  const Microseconds now = clock_.utc();
  if (std::abs(now - asked_retention_at_) < hour) return;
  asked_retention_at_ = now;
  const LiveConfig config = writer_->call([](Ledger& ledger) { return ledger.config(); });
  const auto length = [](double days) { return static_cast<Microseconds>(days * 24.0 * static_cast<double>(hour)); };
  const Microseconds contexts = length(config.retention), events = length(config.event_retention);
  const Microseconds shorter = std::min(contexts > 0 ? contexts : events, events > 0 ? events : contexts);
  if (std::abs(now - looked_at_) < shorter / 30) return;
  looked_at_ = now;
  if (shorter == 0) return;
  const std::vector<Snapshot> kept = store_->snapshots();
  if (kept.empty() || kept.back().number < learner_.number()) keep_snapshot(false);
  if (contexts > 0) erase_old(contexts);
  if (events > 0) drop_old(events);
}

std::vector<IndexEntry> LiveBandit::standings(const std::vector<DecisionId>& ids) {
  return writer_->call([&](Ledger& ledger) {
    std::vector<IndexEntry> entries;
    for (const DecisionId id : ids) entries.push_back(ledger.standing(id));
    return entries;
  });
}

// Recorded first, with what the books know of those events: a replay never starts before the base from then on.
void LiveBandit::drop_old(Microseconds retention) {
  RetentionLook look{.base = learner_.number()};
  look.before = writer_->call([&](Ledger& ledger) { return ledger.time().elapsed - retention; });
  for (bool more = true; more;) {
    const Droppable found =
        droppable_events(*store_, look, [this](const std::vector<DecisionId>& ids) { return standings(ids); });
    if (found.oldest == 0) return;
    const EventNumber base = keep_base(*store_);
    writer_->call([&](Ledger& ledger) {
      ledger.forget_before(found.oldest);
      return ledger.record(
          Erased{.base = base, .decisions = found.decisions, .reason = "event_retention", .dropped = found.oldest});
    });
    store_->drop_events(found.oldest, found.summary, found.keys);
    drop_snapshots_before(*store_, base);
    more = found.more;
  }
}

void LiveBandit::erase_old(Microseconds retention) {
  RetentionLook look{.base = learner_.number()};
  RetentionMarks marks = writer_->call([&](Ledger& ledger) {
    look.before = ledger.time().elapsed - retention;
    return ledger.retention_marks();
  });
  const auto standing = [this](const std::vector<DecisionId>& ids) { return standings(ids); };
  erase_decisions(*store_, "retention", overdue_decisions(*store_, look, standing, marks),
                  [&](const Erased& erased) { record(erased); });
  writer_->call([&](Ledger& ledger) { return ledger.retention_marks() = marks, 0; });
}

bool LiveBandit::idle() const {
  const std::scoped_lock lock(mutex_);
  return idle_ && writer_->settled() && learned_to_ >= committed_ && writer_->queued() == 0 && writer_->waiting() == 0;
}

bool LiveBandit::catch_up(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  const EventNumber until = committed_;
  for (std::chrono::milliseconds waited{0}; waited < most; waited += look_at_interrupts) {
    if (learned_.wait_for(lock, look_at_interrupts, [&] { return learned_to_ >= until; })) return true;
    lock.unlock();
    check_interrupt();
    lock.lock();
  }
  return false;
}

}  // namespace pits
