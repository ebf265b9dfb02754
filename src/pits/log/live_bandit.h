// A bandit in a product. It decides on any thread, takes rewards that come late, twice or never, learns them in order,
// and writes all of it to a log. Whatever was acknowledged survives a crash, and a bandit that is opened again goes on
// where it was, to the bit.
//
//   auto store = std::make_unique<pits::SqliteStore>("shop");
//   if (store->last() == 0) pits::LiveBandit::create(*store, {.context_size = 9, .actions = {"tea", "milk"}});
//   pits::LiveBandit live(std::move(store));
//   const pits::Choice choice = live.decide(x);
//   live.reward({choice.id, 1.0F, "click"});  // accepted, duplicate, expired or unknown
//
// One thread writes the log; another one follows it and learns; trainings move a copy on a third. Neither decisions nor
// rewards wait for them, nor does learning what came: it updates the model of before, and later the trained one.
#pragma once

#include <future>

#include "pits/log/learner.h"
#include "pits/log/left_right.h"
#include "pits/log/log_writer.h"
#include "pits/log/simd_pin.h"

namespace pits {

struct LiveSetup {
  std::string agent = "pi-ts";  // NAME[:PRESET][,field=value...]
  std::size_t context_size = 0;
  std::vector<std::string> actions{};   // names
  std::optional<std::uint64_t> seed{};  // random unless given; the log records it
  LiveConfig config{};
  std::string schema{};  // of named contexts
};

// What a decision is called and was made of, beside its vector.
struct DecisionLabels {
  std::string key{};      // the caller's own name: a second decision with it is the first one
  std::string context{};  // the named context, as it came
};

struct LiveStatus {
  EventNumber committed = 0, learned = 0;  // events; the difference is the learner's lag
  std::uint64_t queued = 0;                // decisions that are not durable yet
  std::uint64_t refused = 0;               // outcomes that the agent refused since the start
  std::uint64_t trainings = 0;             // adopted since the start
  bool training = false;                   // one is under way
  std::string problem{};                   // the last failure, of the store or of learning; empty: none
};

class LiveBandit {
 public:
  static void create(Store& store, const LiveSetup& setup, const Clock& clock = system_clock());
  // Goes on with the log of a store: returns when all of its events are learned.
  explicit LiveBandit(std::unique_ptr<Store> store, const Clock& clock = system_clock(),
                      const LedgerLimits& limits = {});
  // Writes what waits and keeps a snapshot.
  ~LiveBandit();
  LiveBandit(const LiveBandit&) = delete;
  LiveBandit& operator=(const LiveBandit&) = delete;

  // From any thread, as everything here. A decision takes no lock and does not wait for the disk: after a crash the
  // last few may be unknown (see flush). It waits only where it has a key, which must be durable first, or where ids
  // run out because the disk stalls. Where very many decisions are not written yet, it is an Error.
  Choice decide(ContextView x, const ActionSet& actions = {}, const DecisionLabels& labels = {});
  // Probability of every action, p (K), in a decision that would be made now. Returns the largest standard error.
  double probabilities(ContextView x, std::span<float> p, const ActionSet& actions = {}) const;

  // Return when the answer is durable.
  Answer reward(const Reward& reward);
  std::vector<Answer> reward(std::span<const Reward> rewards);
  Answer activate(DecisionId id);
  Answer cancel(DecisionId id);  // what was never shown: nothing is learned of it
  // The decision with a caller's key.
  std::optional<DecisionId> find(std::string_view key) const { return store_->decision_of(key); }
  // Returns when every decision that was made before is durable.
  void flush();

  // Return when decisions know it.
  Action add_actions(const std::vector<std::string>& names);  // the first of them
  void retire(Action action);
  void change_config(const LiveConfig& config);  // all but the floor and the draws of propensities
  // Returns when every event that was durable before is learned.
  void catch_up();

  LiveStatus status() const;
  std::vector<std::string> actions();  // names
  const Store& store() const { return *store_; }
  // The state as bytes, once every event is learned and no training is under way or due.
  std::string saved();

 private:
  struct Published {
    ServingPolicy policy;
    EventNumber number;
  };

  DecisionId next_id();
  void reserve_ids(DecisionId end);
  Decided decided(ContextView x, const ActionSet& actions, DecisionId id, const Published& by) const;
  void record_engine();
  void committed(EventNumber number);
  void learn();
  void publish();
  void next_training();
  void begin_training();
  void adopt_training();
  void close_training();
  template <class Kind>
  EventNumber record(const Kind& event);
  void keep_snapshot_if_due();
  void keep_snapshot(bool base);
  void erase_if_due();
  void report(const std::string& problem);

  std::unique_ptr<Store> store_;
  const Clock& clock_;
  SimdPin pin_;
  std::mutex learning_;  // of the learner
  Learner learner_;
  LeftRight<Published> published_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable to_learner_, learned_;
  bool stopping_ = false;
  bool look_ = true;   // the learning thread has something to do besides events
  bool idle_ = false;  // no training is under way or due
  bool trained_ = false;
  EventNumber committed_ = 0, learned_to_ = 0;
  std::uint64_t refused_ = 0, trainings_ = 0;
  std::string problem_;

  // By the system's steady clock: snapshots take at most a twentieth of the time, however large they are.
  Microseconds snapshot_at_ = 0, snapshot_cost_ = 0;
  EventNumber snapshot_number_ = 0;
  Microseconds looked_at_ = 0;  // UTC, for contexts to be erased
  bool skipping_ = false;       // trainings, because the learner lags; the log says so
  EventNumber asked_ = 0;       // the last event about trainings, which the learner may not have learned yet
  std::future<void> trainer_;   // of the training that is under way

  std::unique_ptr<LogWriter> writer_;
  std::atomic<DecisionId> next_id_{0}, reserved_ids_{0};
  std::atomic<bool> reserving_{false};
  std::thread learner_thread_;
};

}  // namespace pits
