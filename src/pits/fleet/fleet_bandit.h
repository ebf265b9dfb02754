// A bandit of a fleet as one of its servers sees it: decisions are made here, and what callers say of them goes to the
// books directly where this server holds the bandit's lease, and through the database where another one does.
#pragma once

#include "pits/fleet/fleet_link.h"
#include "pits/log/live_bandit.h"

namespace pits {

// While this server holds the lease.
struct Holding {
  // Recovers its log, until `stop`: then it throws.
  Holding(std::unique_ptr<PostgresStore> store, const Clock& clock, const SharedServing& shared,
          const std::stop_token& stop);

  PostgresStore& store;
  LiveBandit live;
  const Microseconds since;         // steady
  std::atomic<bool> called{false};  // since the fleet looked last
  Microseconds used;                // when it saw that; of the thread that looks
};

class FleetBandit : public LiveCalls {
 public:
  FleetBandit(BanditId id, std::string name, std::shared_ptr<PostgresPool> pool, std::shared_ptr<FleetLink> link);

  BanditId id() const { return id_; }
  const std::string& name() const { return name_; }

  Decider& decider() override { return *decider_; }
  const Decider& decider() const override { return *decider_; }
  std::shared_ptr<Decider> shared_decider() const { return decider_; }
  bool write(Decided&& decided) override;
  void write(Decided decided, Written done) override;
  void reward(std::vector<Reward> rewards, Answered done) override;
  void activate(DecisionId id, Record record, Answered done) override;
  void cancel(DecisionId id, Record record, Answered done) override;
  std::optional<DecisionId> find(std::string_view key) const override;
  Action add_actions(const std::vector<std::string>& names) override;
  void retire(Action action) override;
  void change_config(const LiveConfig& config) override;
  LiveConfig config() override;
  LiveStatus status() const override;
  const Store& store() const override { return store_; }

  // For the fleet: calls of other servers.
  struct Taken {
    ServerId sender;
    std::int64_t number;
    std::string calls;
    bool patient;  // may wait for decisions that are on their way
  };
  // False: this server has not held the lease since then (steady).
  enum class Fate { done, answered, not_yet, failed };  // answered: somebody waits for it
  bool take(const Taken& taken, Microseconds since, std::function<void(Fate)> finished);
  std::shared_ptr<Holding> holding() const;
  void set_holding(std::shared_ptr<Holding> holding);
  void set_lease_problem(const std::string& problem);
  // A decision that nobody waits for, through the database.
  bool write_elsewhere(Decided decided);
  // What the database has: events and the newest policy.
  void heard(EventNumber last, EventNumber model);
  bool needs_ids() const;
  void add_ids(DecisionId end);  // a block that ends there
  double model_age() const;      // seconds since the policy was the newest state; 0: it is

 private:
  void call(Call call, CallDone done);
  void call_elsewhere(Call call, CallDone done);
  struct Row {              // what becomes of one
    bool answered = false;  // somebody waits for it
    TextFields config{};    // that was changed to; empty: it was not
  };
  std::vector<CallAnswer> answers_to(Ledger& ledger, const Taken& taken, Row& row);
  std::vector<CallAnswer> carry_out(Ledger& ledger, const Taken& taken, Row& row);
  CallAnswer call_and_wait(Call call);
  static CallDone answered(Answered done);
  DecisionId next_id();
  void load();
  void follow(EventNumber last);
  void set_config(const TextFields& config);
  void count_unlogged();
  void record_gap();

  BanditId id_;
  std::string name_;
  std::shared_ptr<FleetLink> link_;
  PostgresStore store_;  // for reading
  SimdPin pin_;
  std::shared_ptr<Decider> decider_;
  std::atomic<std::uint64_t> unlogged_{0}, rewards_{0};
  std::atomic<std::uint64_t> gap_{0};  // of unlogged_: the log does not say so yet

  mutable std::mutex ids_;  // of what follows
  DecisionId next_id_ = 0, ids_end_ = 0;
  DecisionId next_block_ = 0;  // its end; 0: none

  mutable std::mutex mutex_;  // of what follows
  std::shared_ptr<Holding> holding_;
  TextFields config_;          // as the log has them, where this server holds the lease; else those of the policy
  std::string unread_policy_;  // why the newest one cannot be read; empty: it can
  std::string lease_problem_;  // why its log could not be recovered here
  Microseconds lease_problem_at_ = 0;  // steady: where another server can, this one does not try again
  std::string bad_row_;                // why a call of another server was not carried out, the last one
  std::map<std::pair<ServerId, std::int64_t>, std::string> bad_rows_;  // that have failed once
  EventNumber last_ = 0, model_ = 0;
  Microseconds behind_since_ = 0;  // steady; 0: the policy is the newest
};

}  // namespace pits
