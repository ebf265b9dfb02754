#include "pits/log/audit.h"

#include <algorithm>
#include <bitset>
#include <unordered_map>
#include <unordered_set>

#include "pits/log/ledger.h"

namespace pits {
namespace {

template <class... Args>
Error broken(EventNumber number, fmt::format_string<Args...> format, Args&&... args) {
  return bad_input("event {}: {}", number, fmt::format(format, std::forward<Args>(args)...));
}

class Checker {
 public:
  void see(EventNumber number, const GroupTime& time, const Event& event) {
    if (time.elapsed < elapsed_) throw broken(number, "time runs backwards in the log");
    elapsed_ = time.elapsed;
    if ((number == 1) != std::holds_alternative<Created>(event))
      throw broken(number, "the first event creates the log");
    summary_.events = number;
    std::visit([&](const auto& e) { this->check(number, e); }, event);
  }
  LogSummary summary() const {
    LogSummary all = summary_;
    all.waiting = open_.size();
    return all;
  }

 private:
  template <class Kind>
  void check(EventNumber, const Kind&) {}
  void check(EventNumber, const IdsReserved& ids) { reserved_ = std::max(reserved_, ids.end); }
  void check(EventNumber number, const Decided& decided) {
    if (decided.id >= reserved_) throw broken(number, "the id {} was not reserved", decided.id);
    auto& seen = seen_[decided.id / ids_per_block];
    if (seen.test(decided.id % ids_per_block)) throw broken(number, "the id {} was given twice", decided.id);
    seen.set(decided.id % ids_per_block);
    if (decided.action >= decided.propensities.size()) throw broken(number, "no such action");
    open_[decided.id] = number;
    ++summary_.decisions;
  }
  void check(EventNumber number, const Restored& restored) {
    check(number, static_cast<const Decided&>(restored));
    restored_.insert(restored.id);
    ++summary_.restored;
  }
  void check(EventNumber, const Gap& gap) { summary_.unlogged += gap.decisions; }
  void check(EventNumber number, const Activated& e) { link(number, e.id, e.previous); }
  void check(EventNumber number, const Rewarded& e) {
    link(number, e.id, e.previous);
    ++summary_.rewards;
  }
  void check(EventNumber number, const Settled& e) {
    link(number, e.id, e.previous);
    open_.erase(e.id);
    const bool restored = restored_.erase(e.id) > 0;
    if (e.reason == SettleReason::lost && !restored) throw broken(number, "decision {} was not lost", e.id);
    ++summary_.settled;
  }
  void check(EventNumber number, const TrainingBegan&) {
    if (training_ != 0) throw broken(number, "the training of event {} has not ended", training_);
    training_ = number;
  }
  void check(EventNumber number, const TrainingAdopted& e) {
    if (e.began != training_ || training_ == 0) throw broken(number, "no training has begun at event {}", e.began);
    training_ = 0;
    ++summary_.trainings;
  }
  void check(EventNumber number, const TrainingSkipped& e) {
    if (e.began != 0 && e.began != training_) throw broken(number, "no training has begun at event {}", e.began);
    if (e.began != 0) training_ = 0;
  }
  void check(EventNumber, const EngineChanged&) { training_ = 0; }
  void link(EventNumber number, DecisionId id, EventNumber previous) {
    const auto found = open_.find(id);
    if (found == open_.end()) throw broken(number, "decision {} has settled before, or was never made", id);
    if (found->second != previous) throw broken(number, "follows {}, not {}", found->second, previous);
    found->second = number;
  }

  LogSummary summary_;
  Microseconds elapsed_ = 0;
  DecisionId reserved_ = 0;
  EventNumber training_ = 0;  // began there and has not ended
  static constexpr std::size_t ids_per_block = 4096;
  std::unordered_map<DecisionId, std::bitset<ids_per_block>> seen_;
  std::unordered_map<DecisionId, EventNumber> open_;  // latest event of those that have not settled
  std::unordered_set<DecisionId> restored_;           // of those
};

// Those that were learned by event `base`.
std::unordered_set<DecisionId> find_erased(const Store& store, EventNumber base,
                                           const std::function<bool(DecisionId, const GroupTime&)>& chosen) {
  std::unordered_set<DecisionId> candidates, erased;
  for_each_event(store, [&](EventNumber number, const GroupTime& time, const Event& event) {
    const Decided* decided = decision_in(event);
    GroupTime made = time;
    if (const auto* restored = std::get_if<Restored>(&event)) made.utc = restored->utc;
    if (decided != nullptr && !decided->x.empty() && chosen(decided->id, made)) candidates.insert(decided->id);
    const auto* settled = std::get_if<Settled>(&event);
    const bool learned = settled != nullptr && number <= base;
    if (learned && candidates.contains(settled->id)) erased.insert(settled->id);
  });
  return erased;
}

void blank(Store& store, const GroupReader& group, const std::unordered_set<DecisionId>& erased) {
  GroupWriter blanked;
  std::vector<std::string> keys;
  bool changed = false;
  for (EventNumber number = group.first(); number <= group.last(); ++number) {
    Event event = group.event(number);
    if (Decided* decided = decision_in(event); decided != nullptr && erased.contains(decided->id)) {
      if (!decided->key.empty()) keys.push_back(decided->key);
      decided->key.clear();
      decided->x.clear();
      decided->features.clear();
      decided->context.clear();
      changed = true;
    }
    std::visit([&](const auto& e) { blanked.add(e); }, event);
  }
  if (changed) store.rewrite(group.first(), blanked.finish(group.time()), keys);
}

}  // namespace

void for_each_event(const Store& store, const std::function<void(EventNumber, const GroupTime&, const Event&)>& see) {
  const EventNumber last = store.last();
  for (EventNumber number = 1; number <= last;) {
    const auto group = store.group_holding(number);
    if (!group || group->first() != number) throw broken(number, "is missing");
    for (; number <= group->last(); ++number) see(number, group->time(), group->event(number));
  }
}

LogSummary check_log(const Store& store) {
  Checker checker;
  for_each_event(
      store, [&](EventNumber number, const GroupTime& time, const Event& event) { checker.see(number, time, event); });
  if (checker.summary().events == 0) throw bad_input("the store holds no log");
  return checker.summary();
}

std::uint64_t erase_contexts(Store& store, const std::string& reason,
                             const std::function<bool(DecisionId, const GroupTime&)>& chosen,
                             const std::function<void(const Erased&)>& record) {
  const EventNumber last = store.last();
  auto base = newest_snapshot(store, last);
  if (!base) throw bad_input("a snapshot must be kept before contexts are erased");
  const std::unordered_set<DecisionId> erased = find_erased(store, base->number, chosen);
  if (erased.empty()) return 0;
  base->base = true;
  store.keep(*base);
  // Recorded first: a replay never starts before the base from now on.
  const Erased event{.base = base->number, .decisions = erased.size(), .reason = reason};
  if (record) {
    record(event);
  } else {
    Ledger ledger(store, system_clock());
    ledger.begin_group();
    ledger.record(event);
    ledger.commit();
  }
  for (EventNumber number = 1; number <= last;) {
    const GroupReader group = store.group_holding(number).value();
    blank(store, group, erased);
    number = group.last() + 1;
  }
  for (const Snapshot& snapshot : store.snapshots()) {
    if (snapshot.number < base->number) store.drop_snapshot(snapshot.number);
  }
  return erased.size();
}

}  // namespace pits
