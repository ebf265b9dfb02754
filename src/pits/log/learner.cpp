#include "pits/log/learner.h"

#include "pits/core/damaged.h"
#include "pits/log/clock.h"
#include "pits/log/live_config.h"

namespace pits {
namespace {

constexpr std::size_t most_bytes = 32 << 20;  // of decisions in memory

Bandit created_bandit(const Store& store) {
  const Created created = created_event(store);
  const LiveConfig config = live_config(created.config);
  return {created.agent,
          {.context_size = created.context_size, .actions = created.actions.size(), .seed = created.seed},
          {.floor = config.floor, .propensity = PropensityKind::none, .propensity_draws = config.propensity_draws}};
}

std::size_t size_of(const PackedEvent& decision) { return sizeof decision + 64 + decision.fields.size(); }

// The features of the action that was taken.
std::span<const float> features_of(const Decided& decided) {
  const std::size_t K = decided.propensities.size();
  const std::size_t f = K == 0 ? 0 : decided.features.size() / K;
  return std::span(decided.features).subspan(decided.action * f, f);
}

}  // namespace

Learner::Learner(const Store& store) : Learner(store, 0, created_bandit(store)) {}

Learner::Learner(const Store& store, const Snapshot& start)
    : Learner(store, start.number,
              Bandit::from_saved(start.bytes, fmt::format("the snapshot of event {}", start.number))) {}

Learner::Learner(const Store& store, EventNumber number, Bandit bandit)
    : store_(store),
      number_(number),
      changed_(number),
      bandit_(std::move(bandit)),
      beside_(live_config(created_event(store).config).training == TrainingPlace::beside) {
  if (beside_) bandit_.train_beside();
}

void Learner::follow(EventNumber until) {
  while (number_ < until) {
    if (!group_) group_ = store_.group_holding(number_ + 1);
    if (!group_) return;
    for (const EventNumber end = std::min(until, group_->last()); number_ < end; ++number_) {
      PackedEvent event = group_->packed(number_ + 1);
      if (const auto id = event.decision()) {
        remember(*id, std::move(event));
      } else {
        apply(number_ + 1, std::move(event).event());
      }
    }
    if (number_ == group_->last()) group_.reset();
  }
}

void Learner::apply(EventNumber number, Event event) {
  if (std::holds_alternative<Rewarded>(event) || std::holds_alternative<Activated>(event)) return;
  changed_ = number;
  if (const auto* settled = std::get_if<Settled>(&event)) {
    learn(*settled);
  } else if (const auto* added = std::get_if<ActionsAdded>(&event)) {
    add_actions(number, *added);
  } else if (const auto* retired = std::get_if<ActionRetired>(&event)) {
    bandit_.retire(retired->action);
  } else if (std::holds_alternative<TrainingBegan>(event)) {
    training_ = std::make_unique<TrainingBeside>(bandit_.agent());
    began_ = number;
  } else if (const auto* adopted = std::get_if<TrainingAdopted>(&event)) {
    adopt(number, *adopted);
  } else if (const auto* skipped = std::get_if<TrainingSkipped>(&event)) {
    if (skipped->began == began_) drop_training();
  } else if (std::holds_alternative<EngineChanged>(event)) {
    drop_training();  // another engine began it
    engine_changed_ = true;
  }
}

void Learner::add_actions(EventNumber number, const ActionsAdded& added) {
  if (added.first != bandit_.setup().actions) {
    throw damaged("the log is damaged: event {} adds action {} to {}", number, added.first, bandit_.setup().actions);
  }
  bandit_.add_actions(added.names.size());
  if (training_) training_->added_actions(added.names.size());
}

void Learner::adopt(EventNumber number, const TrainingAdopted& adopted) {
  if (!training_ || adopted.began != began_) {
    throw damaged("the log is damaged: event {} adopts a training that did not begin at {}", number, adopted.began);
  }
  bandit_.adopt(training_->finish());
  drop_training();
}

void Learner::learn(const Settled& settled) {
  const Decided decided = take(settled);
  if (settled.reason == SettleReason::cancelled || settled.reason == SettleReason::lost) return;
  if (was_erased(decided, bandit_.setup().context_size, bandit_.setup().actions == 0)) {
    throw bad_input(
        "the context of decision {} was erased; a replay starts at a later snapshot, which a backup may have where it "
        "is lost",
        settled.id);
  }
  const Feedback event{
      .x = decided.x, .action = decided.action, .reward = settled.value, .id = settled.id, .z = features_of(decided)};
  try {
    bandit_.learn(event);
    if (training_) training_->learned(event);
  } catch (const Error& e) {
    ++refused_;
    refusal_ = fmt::format("decision {}: {}", settled.id, e.what());
  }
}

void Learner::remember(DecisionId id, PackedEvent decision) {
  const std::size_t size = size_of(decision);
  const bool is_new = waiting_.try_emplace(id, std::move(decision)).second;
  if (!is_new) throw damaged("the log is damaged: two decisions have the id {}", id);
  bytes_ += size;
  while (bytes_ > most_bytes) {
    bytes_ -= size_of(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
  }
}

Decided Learner::take(const Settled& settled) {
  const auto found = waiting_.find(settled.id);
  if (found == waiting_.end()) return *decision_in(chain(store_, settled.previous).front());
  bytes_ -= size_of(found->second);
  Event event = std::move(waiting_.extract(found).mapped()).event();
  return std::move(*decision_in(event));
}

std::optional<Snapshot> newest_snapshot(const Store& store, EventNumber at_most) {
  std::optional<EventNumber> newest;
  for (const Snapshot& snapshot : store.snapshots()) {
    if (snapshot.number <= at_most) newest = snapshot.number;
  }
  return newest ? std::optional(store.snapshot(*newest)) : std::nullopt;
}

std::optional<Learner> started(const Store& store, EventNumber snapshot, std::string& why) {
  try {
    return std::optional<Learner>(std::in_place, store, store.snapshot(snapshot));
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::input) throw;  // of the store
    why = e.what();
    return std::nullopt;
  }
}

namespace {

constexpr EventNumber events_at_once = 10'000;       // between two looks at the clock
constexpr Microseconds snapshot_every = 20'000'000;  // while learning a long log again

// `engine`: of the state from which the learner starts. What another engine has learned is not kept on the way as this
// one's work: record_engine() keeps the end of it.
void learn_all(Store& store, Learner& learner, EventNumber last, const std::string& engine,
               const std::stop_token& stop) {
  Microseconds kept_at = system_clock().steady();
  while (learner.number() < last) {
    const EventNumber before = learner.number();
    learner.follow(std::min(last, before + events_at_once));
    if (learner.number() == before) {
      throw bad_input("event {} is missing: older events were dropped, and with them what a replay needs", before + 1);
    }
    if (learner.number() == last) return;
    const bool ours = engine == engine_name() && !learner.engine_changed();
    const bool due = stop.stop_requested() || system_clock().steady() - kept_at > snapshot_every;
    if (due && ours && learner.training() == nullptr) {
      store.keep({.number = learner.number(), .engine = engine_name(), .bytes = learner.saved()});
      kept_at = system_clock().steady();
    }
    if (stop.stop_requested()) throw failed("learning the log again was stopped at event {}", learner.number());
  }
}

}  // namespace

Learner recovered(Store& store, std::string& problem, const std::stop_token& stop) {
  const EventNumber last = store.last();
  const std::vector<Snapshot> kept = store.snapshots();
  std::vector<EventNumber> useless;
  std::optional<Learner> learner;
  std::string engine;
  problem = store.damage();
  for (auto snapshot = kept.rbegin(); snapshot != kept.rend(); ++snapshot) {
    const EventNumber number = snapshot->number;
    std::string why = fmt::format("there is a snapshot of event {}, but the log ends with event {}", number, last);
    if (auto found = number <= last ? started(store, number, why) : std::nullopt) {
      learner.emplace(*std::move(found));
      engine = snapshot->engine;
      break;
    }
    useless.push_back(number);
    if (problem.empty()) problem = why;
  }
  if (!learner) {
    learner.emplace(store);
    engine = created_event(store).engine;
  }
  if (!problem.empty()) problem += fmt::format("; learned again from event {} on", learner->number() + 1);
  try {
    learn_all(store, *learner, last, engine, stop);
  } catch (const Error& e) {
    if (problem.empty()) throw;
    throw Error(e.kind(), fmt::format("{}: {}", problem, e.what()));
  }
  for (const EventNumber number : useless) store.drop_snapshot(number);
  return *std::move(learner);
}

}  // namespace pits
