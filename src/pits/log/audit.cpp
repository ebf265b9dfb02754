#include "pits/log/audit.h"

#include <algorithm>
#include <bitset>
#include <unordered_map>
#include <unordered_set>

#include "pits/log/index_check.h"

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
    if (number != summary_.events + 1) summary_.oldest = number;
    summary_.events = number;
    std::visit([&](const auto& e) { this->check(number, e); }, event);
  }
  LogSummary summary() const {
    if (summary_.oldest > recorded_) throw broken(summary_.oldest - 1, "is missing, and the log does not say why");
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
  void check(EventNumber, const Erased& erased) { recorded_ = std::max(recorded_, erased.dropped); }
  void check(EventNumber, const Gap& gap) { summary_.unlogged += gap.decisions; }
  void check(EventNumber number, const Activated& e) { link(number, e.id, e.previous); }
  void check(EventNumber number, const Rewarded& e) {
    link(number, e.id, e.previous);
    ++summary_.rewards;
  }
  void check(EventNumber number, const Settled& e) {
    link(number, e.id, e.previous);
    open_.erase(e.id);
    const bool restored = restored_.erase(e.id) > 0 || dropped(e.previous);
    if (e.reason == SettleReason::lost && !restored) throw broken(number, "decision {} was not lost", e.id);
    ++summary_.settled;
  }
  void check(EventNumber number, const TrainingBegan&) {
    if (training_ != 0) throw broken(number, "the training of event {} has not ended", training_);
    training_ = number;
  }
  void check(EventNumber number, const TrainingAdopted& e) {
    if (!dropped(e.began) && (e.began != training_ || training_ == 0))
      throw broken(number, "no training has begun at event {}", e.began);
    training_ = 0;
    ++summary_.trainings;
  }
  void check(EventNumber number, const TrainingSkipped& e) {
    if (e.began != 0 && e.began != training_ && !dropped(e.began))
      throw broken(number, "no training has begun at event {}", e.began);
    if (e.began != 0) training_ = 0;
  }
  void check(EventNumber, const EngineChanged&) { training_ = 0; }
  void link(EventNumber number, DecisionId id, EventNumber previous) {
    const auto found = open_.find(id);
    if (found == open_.end() && dropped(previous)) {
      open_[id] = number;
      return;
    }
    if (found == open_.end()) throw broken(number, "decision {} has settled before, or was never made", id);
    if (found->second != previous) throw broken(number, "follows {}, not {}", found->second, previous);
    found->second = number;
  }

  bool dropped(EventNumber number) const { return number > 0 && number < summary_.oldest; }

  LogSummary summary_;
  EventNumber recorded_ = 0;  // events before were dropped, as the log says
  Microseconds elapsed_ = 0;
  DecisionId reserved_ = 0;
  EventNumber training_ = 0;  // began there and has not ended
  static constexpr std::size_t ids_per_block = 4096;
  std::unordered_map<DecisionId, std::bitset<ids_per_block>> seen_;
  std::unordered_map<DecisionId, EventNumber> open_;  // latest event of those that have not settled
  std::unordered_set<DecisionId> restored_;           // of those
};

}  // namespace

LogSummary check_log(const Store& store) {
  Checker checker;
  IndexCheck index(store);
  for_each_event(store, [&](EventNumber number, const GroupTime& time, const Event& event) {
    checker.see(number, time, event);
    index.see(number, event);
  });
  const LogSummary found = checker.summary();
  if (found.events == 0) throw bad_input("the store holds no log");
  index.finish(found.oldest);
  return found;
}

}  // namespace pits
