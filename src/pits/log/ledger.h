// The books of a live bandit: which decision waits, which rewards it has, when it settles. Each call adds events to a
// group that commit() makes durable. For one thread.
//
// Time: windows are measured by the steady clock while a process runs and by the UTC clock between two processes, so
// that a UTC clock that jumps changes no window. Expiry is decided once, and is an event.
#pragma once

#include <deque>
#include <stop_token>
#include <unordered_map>

#include "pits/log/clock.h"
#include "pits/log/decision_index.h"
#include "pits/log/erase.h"
#include "pits/log/live_config.h"

namespace pits {

enum class Answer {
  accepted,
  duplicate,  // the reward, or one that counts in its place, was taken before
  expired,    // the decision has settled without it: its window is over, or it was cancelled
  unknown,    // no such decision
  full,       // the decision has as many rewards as it can have (LiveConfig::most_rewards)
};
template <>
inline constexpr auto enum_names<Answer> = std::array{"accepted", "duplicate", "expired", "unknown", "full"};

struct Reward {
  DecisionId id;
  float value;
  std::string key{};                         // the same key again is a retry; empty: none
  std::shared_ptr<const Restored> record{};  // what a token brought: the decision, where the log has lost it
};

// What is kept in memory, all of which can be read from the store again, and how far learning may fall behind.
struct LedgerLimits {
  std::size_t index_pages = 4096;       // of 512 decisions, 4 kB each
  std::size_t tallies = 65536;          // decisions with rewards
  std::size_t tally_bytes = 64 << 20;   // of the keys of their rewards
  EventNumber recovery_events = 65536;  // at least so many events are read after a crash to restore the index
  EventNumber training_lag = 50'000;    // events that the learner may be behind when a training begins; else: skipped
  std::stop_token stop{};               // a recovery is given up
  // How long changes of actions wait until decisions know them. A service answers others meanwhile.
  std::chrono::milliseconds patience = std::chrono::milliseconds::max();
};

// Durable events since the ledger was opened.
struct LedgerCounts {
  std::uint64_t decisions = 0, rewards = 0, settled = 0;
  std::uint64_t restored = 0;  // decisions
  std::uint64_t mended = 0;    // pages of the index of decisions: they were damaged
};

// Ids that are reserved at once. The next block is asked for when half of one is left, which is more than the decisions
// that may wait to be written: ids do not run out before the log has a gap.
constexpr DecisionId id_block = DecisionId{1} << 20U;

class Ledger {
 public:
  // Goes on with the log of the store, which has at least its Created event.
  Ledger(Store& store, const Clock& clock, const LedgerLimits& limits = {});
  // The first event of an empty store, whose ids start at this one.
  static void create(Store& store, const Clock& clock, const Created& created, DecisionId first_id = 0);

  // Pages of the index hold all changes up to this event; those after it, perhaps. Throws where the recovery point is
  // damaged.
  static EventNumber recovery_start(const Store& store);

  // Takes the time of the group that begins.
  void begin_group();
  // Settles decisions whose window is over, oldest first; true where `most` of them were settled and more may be due.
  bool settle_expired(std::size_t most);

  // The decision's id, or that of an earlier decision with the same key, which is then the only one. Sets `active`.
  DecisionId decide(Decided& decided);
  IndexEntry standing(DecisionId id) { return index_.find(id); }
  bool knows(DecisionId id) { return index_.find(id).standing != Standing::unknown; }
  // Throws unless the value is finite and in the range of rewards, and the key not too long.
  void check(const Reward& reward) const;
  // Where the decision is not known, its record restores it, unless its window is over by the UTC clock. Its window
  // then starts when it came back.
  Answer reward(const Reward& reward);
  Answer activate(DecisionId id, const Restored* record = nullptr);
  Answer cancel(DecisionId id, const Restored* record = nullptr);
  // Ids below the result may be given once the group is durable.
  DecisionId reserve_ids(DecisionId end);
  Action add_actions(const std::vector<std::string>& names);  // the first of them
  void retire(Action action);
  void change_config(const LiveConfig& config);
  void change_engine(const std::string& engine);
  // An event that changes nothing of the books.
  template <class Kind>
  EventNumber record(const Kind& event) {
    return add(event);
  }

  // Calls of another server, which the group has made: they leave the database with it.
  void took(TakenCalls calls) { taken_.push_back(std::move(calls)); }

  // Events before this one will be dropped: what the books know of them is kept with the group.
  void forget_before(EventNumber oldest) { forgotten_to_ = oldest; }

  // Where it throws, the group is as if it had never begun.
  void commit();
  void abandon_group();

  EventNumber last() const { return last_; }  // durable event
  const LiveConfig& config() const { return books_.config; }
  const std::vector<std::string>& actions() const { return books_.actions; }
  const std::string& engine() const { return books_.engine; }
  DecisionId reserved_ids() const { return books_.reserved_ids; }
  // New decisions get ids from here on: a token has brought one from below that was not reserved, because the log was
  // restored from a backup.
  DecisionId ids_start() const { return ids_start_; }
  const LedgerCounts& counts() const { return counts_; }
  const GroupTime& time() const { return time_; }  // of the group
  // How far retention has looked: kept with the recovery point, and older there after a crash.
  RetentionMarks& retention_marks() { return books_.retention; }
  bool waits() const { return window() > 0 && expired_to_ < last_; }  // some decision may, for its window to close
  // A durable decision; none where no such decision was made.
  std::optional<Decided> find(DecisionId id);

 private:
  struct Books {
    DecisionId reserved_ids = 0;
    LiveConfig config;
    std::vector<std::string> actions;
    std::vector<std::uint8_t> retired;
    std::string engine;
    RetentionMarks retention{};
    std::optional<RewardRange> range{};  // of the config

    void set(const LiveConfig& next);
    void state(Archive& archive);
    void apply(const Event& event);  // may be applied twice
  };
  // The rewards of one decision.
  struct Tally {
    bool restored = false;  // the decision
    std::uint64_t count = 0;
    float first = 0.0F, largest = 0.0F;
    double sum = 0.0;
    std::vector<std::string> keys;
    std::size_t bytes = 0;  // of the keys

    void add(const Rewarded& reward);
    float value(RewardRule rule) const;
    bool has(std::string_view key) const;
  };

  template <class Kind>
  EventNumber add(const Kind& event) {
    group_.add(event);
    return last_ + group_.count();
  }
  Books& edit();
  Microseconds window() const;
  Answer find(DecisionId id, const Restored* record, IndexEntry& entry);
  Answer restore(const Restored& record, IndexEntry& entry);
  std::optional<DecisionId> decision_with(const std::string& key);
  Tally& tally(DecisionId id, const IndexEntry& entry);
  void forget_tallies();
  SettleReason reason(const Tally& tally) const;
  void settle(DecisionId id, EventNumber previous, float value, SettleReason reason);
  bool settle_expired(const Decided& decided);
  void settle_rewarded();
  void recover();
  static std::string unsealed_point(const std::string& bytes);
  EventNumber read_recovery_point();
  void write_pages();
  void apply(EventNumber number, const Event& event);
  std::string recovery_point(EventNumber last);

  Store& store_;
  const Clock& clock_;
  LedgerLimits limits_;
  std::size_t context_size_;
  DecisionIndex index_;
  Books books_;
  std::optional<Books> books_before_;  // of the group, where it has changed them
  EventNumber last_ = 0;
  EventNumber expired_to_ = 0;  // every decision up to this event has settled
  EventNumber expired_before_ = 0;
  LedgerCounts counts_, counts_before_;
  EventNumber forgotten_to_ = 0;  // by this group
  DecisionId ids_start_ = 0;
  std::optional<GroupReader> expiring_;  // group of event expired_to_ + 1

  GroupWriter group_;
  GroupTime time_;
  Microseconds steady_ = 0;
  std::unordered_map<std::string, DecisionId> keys_;  // of the group
  std::vector<TakenCalls> taken_;
  std::unordered_map<DecisionId, Tally> tallies_;
  std::deque<DecisionId> tally_order_;  // oldest first
  std::size_t tally_bytes_ = 0;
};

}  // namespace pits
