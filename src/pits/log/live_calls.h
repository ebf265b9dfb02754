// What a service asks of a bandit, whether it is learned here or by another server. From any thread.
#pragma once

#include "pits/log/decider.h"
#include "pits/log/ledger.h"

namespace pits {

// Counts are those since the start.
struct LiveStatus {
  EventNumber committed = 0, learned = 0;  // events; the difference is the learner's lag
  std::uint64_t made = 0;                  // decisions
  std::uint64_t queued = 0;                // decisions that are not durable yet
  std::uint64_t waiting = 0;               // other calls that are not durable yet
  std::uint64_t unlogged = 0;              // decisions that were not logged: see write()
  LedgerCounts durable{};                  // decisions, rewards, ...
  std::uint64_t refused = 0;               // outcomes that the agent refused
  std::uint64_t trainings = 0;             // adopted
  bool training = false;                   // one is under way
  bool held = true;                        // it is learned here
  double model_age = 0.0;                  // seconds since decisions knew all that was written; of a fleet
  std::string learning_problem{};          // why learning does not go on now; empty: it does
  std::string store_problem{};             // the last failure of the store since its last success; empty: none
  std::string damage{};                    // of the snapshots, found at the start, or of the index; empty: none
  std::string problem{};                   // one of these, or the last one of learning; empty: none
};

class LiveCalls {
 public:
  // The functions that are called when a call is durable, or with the Error of the store, must neither wait nor throw.
  using Written = std::function<void(const Decided*, const std::exception_ptr&)>;
  using Answered = std::function<void(std::vector<Answer>, const std::exception_ptr&)>;
  using Record = std::shared_ptr<const Restored>;  // what a token brought: see Reward

  LiveCalls() = default;
  virtual ~LiveCalls() = default;
  LiveCalls(const LiveCalls&) = delete;
  LiveCalls& operator=(const LiveCalls&) = delete;

  // What was made by it is written by write().
  virtual Decider& decider() = 0;
  virtual const Decider& decider() const = 0;
  // Written soon. False where too many decisions are not written yet: it is counted in the log's next gap event.
  // What is left in it is memory to make another one in.
  virtual bool write(Decided&& decided) = 0;
  // Written now. done(decided, nullptr): the decision, or the earlier one with the same key; done(nullptr, error).
  virtual void write(Decided decided, Written done) = 0;
  virtual void reward(std::vector<Reward> rewards, Answered done) = 0;
  virtual void activate(DecisionId id, Record record, Answered done) = 0;
  virtual void cancel(DecisionId id, Record record, Answered done) = 0;  // what was never shown: nothing is learned
  // The decision with a caller's key.
  virtual std::optional<DecisionId> find(std::string_view key) const = 0;

  // These wait until the change is durable.
  virtual Action add_actions(const std::vector<std::string>& names) = 0;  // the first of them
  virtual void retire(Action action) = 0;
  virtual void change_config(const LiveConfig& config) = 0;  // all but the floor and the draws of propensities
  virtual LiveConfig config() = 0;
  virtual LiveStatus status() const = 0;
  virtual const Store& store() const = 0;
};

}  // namespace pits
