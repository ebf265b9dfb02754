// A bandit in a product. It decides on any thread, takes rewards that come late, twice or never, learns them in order,
// and writes all of it to a log. Whatever was acknowledged survives a crash, and a bandit that is opened again goes on
// where it was, to the bit.
//
//   auto store = std::make_unique<pits::SqliteStore>("shop");
//   if (store->last() == 0) pits::LiveBandit::create(*store, {.actions = {"tea", "milk"}, .schema = schema});
//   pits::LiveBandit live(std::move(store));
//   const pits::Choice choice = live.decide(R"({"age": 31, "country": "de"})");
//   show(live.name(choice.action));
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
#include "pits/schema/schema.h"

namespace pits {

struct LiveSetup {
  std::string agent = "pi-ts:adaptive";  // NAME[:PRESET][,field=value...]
  std::size_t context_size = 0;          // that of the schema, where there is one
  std::vector<std::string> actions{};    // names; none: candidates come with each decision (feature-ts)
  std::optional<std::uint64_t> seed{};   // random unless given; the log records it
  LiveConfig config{};
  std::string schema{};  // of named contexts, JSON (schema/schema.h); empty: contexts are vectors
};

// The first event of a log with this setup. Throws where the setup is not valid.
Created created_by(const LiveSetup& setup);

// What a decision is called and was made of, in the caller's words.
struct DecisionLabels {
  std::string key{};                   // the caller's own name: a second decision with it is the first one
  std::string context{};               // the named context, as it came
  std::vector<std::string> allowed{};  // names of the actions it may take, instead of a mask; empty: as the mask says
};

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
  std::string store_problem{};             // the last failure of the store since its last success; empty: none
  std::string problem{};                   // that, or the last one of learning; empty: none
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
  // Written soon. False where too many decisions are not written yet: it is counted in the log's next gap event.
  bool write(Decided decided);
  // Written now. The functions that are called when a call is durable, or with the Error of the store, are called by
  // the writing thread: they must neither wait nor throw. done(decided, nullptr): the decision, or the earlier one
  // with the same key; done(nullptr, error).
  using Written = std::function<void(const Decided*, const std::exception_ptr&)>;
  void write(Decided decided, Written done);
  // Ids below are not given any more; before the first decision.
  void start_ids_at(DecisionId start);
  // Probability of every action, p (K), in a decision that would be made now. Returns the largest standard error.
  double probabilities(ContextView x, std::span<float> p, const ActionSet& actions = {}) const;

  // Return when the answer is durable.
  Answer reward(const Reward& reward);
  std::vector<Answer> reward(std::span<const Reward> rewards);
  // Records are what tokens brought: see Reward.
  using Record = std::shared_ptr<const Restored>;
  Answer activate(DecisionId id, const Record& record = {});
  Answer cancel(DecisionId id, const Record& record = {});  // what was never shown: nothing is learned of it
  // The same without waiting.
  using Answered = std::function<void(std::vector<Answer>, const std::exception_ptr&)>;
  void reward(std::vector<Reward> rewards, Answered done);
  void activate(DecisionId id, Record record, Answered done);
  void cancel(DecisionId id, Record record, Answered done);
  // The decision with a caller's key.
  std::optional<DecisionId> find(std::string_view key) const { return store_->decision_of(key); }
  // Returns when every decision that was made before is durable.
  void flush();

  // Return when decisions know it.
  Action add_actions(const std::vector<std::string>& names);  // the first of them
  void retire(Action action);
  void retire(std::string_view name) { retire(action(name)); }
  void change_config(const LiveConfig& config);  // all but the floor and the draws of propensities
  // Returns when every event that was durable before is learned.
  void catch_up();

  LiveStatus status() const;
  std::uint64_t waiting() const { return writer_->waiting(); }  // as in the status, without a lock
  // Names of actions; an Error where there is no such action. They take no lock.
  std::vector<std::string> actions() const;
  Action action(std::string_view name) const;
  std::string name(Action action) const;
  std::vector<std::uint8_t> retired() const;  // (K) 1: retired
  const std::optional<Schema>& schema() const { return schema_; }
  const Created& created() const { return created_; }  // the log's first event
  LiveConfig config();
  const Store& store() const { return *store_; }
  // The state as bytes, once every event is learned and no training is under way or due.
  std::string saved();

 private:
  struct Published {
    ServingPolicy policy;
    EventNumber number;
  };
  struct ActionNames {
    std::vector<std::string> all;
    std::map<std::string, Action, std::less<>> index{};

    Action find(std::string_view name, std::size_t K) const;  // among the first K
    std::vector<std::string> first(std::size_t K) const;
  };

  std::vector<float> encode(std::string_view context) const;
  DecisionId next_id(bool wait);
  Decided make(ContextView x, const ActionSet& actions, const DecisionLabels& labels, std::vector<Action>* ranking,
               bool wait);
  void skip_ids(const Ledger& ledger);
  static std::vector<Answer> reward_all(Ledger& ledger, std::span<const Reward> rewards);
  template <class Call>
  void add(Call call, Answered done);
  template <class Call>
  auto call(Call&& call);
  void reserve_ids(DecisionId end);
  void publish_names(const std::vector<std::string>& all);  // from the writing thread
  std::size_t action_count() const;                         // that decisions know
  std::vector<std::uint8_t> mask_of(const std::vector<std::string>& allowed, std::size_t K) const;
  Decided decided(ContextView x, const ActionSet& actions, DecisionId id, const Published& by,
                  std::vector<Action>* ranking) const;
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
  Created created_;
  std::optional<Schema> schema_;
  LeftRight<ActionNames> names_;  // those of the published policy, and perhaps some that are on the way

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
  std::atomic<std::uint64_t> made_{0};
  std::thread learner_thread_;
};

}  // namespace pits
