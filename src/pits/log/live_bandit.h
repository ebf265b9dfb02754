// A bandit in a product. It decides on any thread, takes rewards that come late, twice or never, learns them in order,
// and writes all of it to a log. Whatever was acknowledged survives a crash, and a bandit that is opened again goes on
// where it was, to the bit.
//
//   auto store = std::make_unique<pits::SqliteStore>("shop");
//   if (store->last() == 0) pits::LiveBandit::create(*store, {.actions = {"tea", "milk"}, .schema = schema});
//   pits::LiveBandit live(std::move(store));
//   const pits::Choice choice = live.decide(R"({"age": 31, "country": "de"})");
//   show(live.name(choice.action));
//   live.reward({choice.id, 1.0F, "click"});  // accepted, duplicate, expired, unknown or full
//
// One thread writes the log; another one follows it and learns; trainings move a copy on a third. Neither decisions nor
// rewards wait for them, nor does learning what came: it updates the model of before, and later the trained one.
#pragma once

#include <future>

#include "pits/log/learner.h"
#include "pits/log/live_calls.h"
#include "pits/log/log_writer.h"
#include "pits/log/simd_pin.h"

namespace pits {

struct LiveSetup {
  std::string agent = "pi-ts";          // NAME[:PRESET][,field=value...]
  std::size_t context_size = 0;         // that of the schema, where there is one
  std::vector<std::string> actions{};   // names; none: candidates come with each decision (feature-ts)
  std::optional<std::uint64_t> seed{};  // random unless given; the log records it
  LiveConfig config{};
  std::string schema{};  // of named contexts, JSON (schema/schema.h); empty: contexts are vectors
};

// The first event of a log with this setup. Throws where the setup is not valid.
Created created_by(const LiveSetup& setup);

// Where a fleet shares a bandit: its servers decide by what each of them has, and followers read the policies that the
// learner publishes (pits.policy).
struct SharedServing {
  std::shared_ptr<Decider> decider{};        // of this server, with ids of its own; none: not shared
  Microseconds model_age = 0;                // a version of the policy is published when the last one is that old
  std::function<void(Decided)> elsewhere{};  // takes decisions that cannot be written here
};
// What a version's `books` hold: followers need it besides the policy.
struct SharedBooks {
  std::vector<std::string> actions;
  TextFields config;

  void state(Archive& archive) { archive(actions, config); }
};

class LiveBandit : public LiveCalls {
 public:
  // Ids of a log start at 0 where the seed is given, so that the same calls make the same decisions. Otherwise, and
  // whenever a log is opened again, they go on from the microseconds since 2020, where that is higher: no id is given
  // twice, also where an older copy of a log takes its place.
  static void create(Store& store, const LiveSetup& setup, const Clock& clock = system_clock());
  // Goes on with the log of a store: returns when all of its events are learned.
  explicit LiveBandit(std::unique_ptr<Store> store, const Clock& clock = system_clock(),
                      const LedgerLimits& limits = {}, const SharedServing& shared = {});
  // Writes what waits and keeps a snapshot.
  ~LiveBandit() override;

  // From any thread, as everything here. A decision takes no lock and does not wait for the disk: after a crash the
  // last few may be unknown (see flush). It waits only where it has a key, which must be durable first, or where ids
  // run out because the disk stalls. Where very many decisions are not written yet, it is an Error.
  Choice decide(ContextView x, const ActionSet& actions = {}, const DecisionLabels& labels = {});
  // A named context, a JSON object that the schema encodes. Where it does not fit, the Error names the feature, and
  // nothing has happened.
  Choice decide(std::string_view context, const ActionSet& actions = {}, DecisionLabels labels = {});

  // A decision in two steps, for a service: what is made is answered with a token (serve/token.h) and written. It never
  // waits: where ids run out because the disk stalls, it is an Error. All allowed actions are in `ranking`: the
  // decision's own first, the others by the same draws.
  Decided make(ContextView x, const ActionSet& actions = {}, const DecisionLabels& labels = {},
               std::vector<Action>* ranking = nullptr);
  Decided make(std::string_view context, const ActionSet& actions = {}, DecisionLabels labels = {},
               std::vector<Action>* ranking = nullptr);
  bool write(Decided&& decided) override;
  // The functions are called by the writing thread.
  void write(Decided decided, Written done) override;
  // Probability of every action, p (K), in a decision that would be made now. Returns the largest standard error.
  double probabilities(ContextView x, std::span<float> p, const ActionSet& actions = {}) const;

  // Return when the answer is durable.
  Answer reward(const Reward& reward);
  std::vector<Answer> reward(std::span<const Reward> rewards);
  Answer activate(DecisionId id, const Record& record = {});
  Answer cancel(DecisionId id, const Record& record = {});
  // The same without waiting.
  void reward(std::vector<Reward> rewards, Answered done) override;
  void activate(DecisionId id, Record record, Answered done) override;
  void cancel(DecisionId id, Record record, Answered done) override;
  std::optional<DecisionId> find(std::string_view key) const override { return store_->decision_of(key); }
  // Returns when every decision that was made before is durable.
  void flush();

  // Return when decisions know it; where learning does not go on or takes long (LedgerLimits), when it is durable.
  Action add_actions(const std::vector<std::string>& names) override;
  void retire(Action action) override;
  void retire(std::string_view name) { retire(action(name)); }
  void change_config(const LiveConfig& config) override;
  // Returns when every event that was durable before is learned. False: it was not within that time.
  bool catch_up(std::chrono::milliseconds most = std::chrono::milliseconds::max());

  LiveStatus status() const override;
  std::uint64_t waiting() const { return writer_->waiting(); }  // as in the status, without a lock
  Decider& decider() override { return *decider_; }
  const Decider& decider() const override { return *decider_; }
  std::vector<std::string> actions() const { return decider_->actions(); }
  Action action(std::string_view name) const { return decider_->action(name); }
  std::string name(Action action) const { return decider_->name(action); }
  std::vector<std::uint8_t> retired() const { return decider_->retired(); }
  const std::optional<Schema>& schema() const { return decider_->schema(); }
  const Created& created() const { return decider_->created(); }
  LiveConfig config() override;
  const Store& store() const override { return *store_; }
  // The state as bytes, once every event is learned and no training is under way or due.
  std::string saved();
  // For a fleet: whoever writes to the log besides the calls above; and whether nothing is left to do, now or when
  // windows close.
  LogWriter& writer() { return *writer_; }
  bool idle() const;

 private:
  DecisionId next_id(bool wait);
  void skip_ids(const Ledger& ledger);
  static std::vector<Answer> reward_all(Ledger& ledger, std::span<const Reward> rewards);
  template <class Call>
  void add(Call call, Answered done);
  template <class Call>
  auto call(Call&& call);
  void reserve_ids(DecisionId end);
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
  void publish_version_if_due();
  void publish_version();
  void erase_if_due();
  void erase_old(Microseconds retention);
  void drop_old(Microseconds retention);
  std::vector<IndexEntry> standings(const std::vector<DecisionId>& ids);
  void report(const std::string& refusal, const std::string& problem);

  std::unique_ptr<Store> store_;
  const Clock& clock_;
  LedgerLimits limits_;
  SimdPin pin_;
  std::string damage_;   // of the snapshots, at the start
  std::mutex learning_;  // of the learner
  Learner learner_;
  SharedServing shared_;
  std::shared_ptr<Decider> decider_;
  EventNumber published_to_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable to_learner_, learned_;
  bool stopping_ = false;
  bool look_ = true;   // the learning thread has something to do besides events
  bool idle_ = false;  // no training is under way or due
  bool trained_ = false;
  EventNumber committed_ = 0, learned_to_ = 0;
  std::uint64_t refused_ = 0, trainings_ = 0;
  std::string refusal_;           // why the last outcome that was refused was
  std::string learning_problem_;  // why learning does not go on; empty: it does
  std::string snapshot_problem_;  // why the last snapshot was not kept; empty: it was

  // By the system's steady clock: snapshots take at most a twentieth of the time, however large they are.
  Microseconds snapshot_at_ = 0, snapshot_cost_ = 0;
  EventNumber snapshot_number_ = 0;
  // The same of versions for the servers of a fleet, which take at most a fifth.
  Microseconds version_at_ = 0, version_cost_ = 0;
  EventNumber version_number_ = 0;
  Microseconds looked_at_ = 0, asked_retention_at_ = 0;  // UTC, for contexts to be erased; for how old they may be
  bool skipping_ = false;                                // trainings, because the learner lags; the log says so
  EventNumber asked_ = 0;      // the last event about trainings, which the learner may not have learned yet
  std::future<void> trainer_;  // of the training that is under way

  std::unique_ptr<LogWriter> writer_;
  std::atomic<DecisionId> next_id_{0}, reserved_ids_{0};
  std::atomic<bool> reserving_{false};
  std::thread learner_thread_;
};

}  // namespace pits
