// The events of a live bandit's log. They are numbered 1, 2, ... without gaps, in the order in which they are learned,
// and written in groups: all events of a group become durable together and have one time.
//
// Event 1 is Created. State = f(events 1..n): a learner keeps nothing that is not in them. The events of one decision
// are a chain: each names the decision's previous event.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pits/agent/agent.h"

namespace pits {

using EventNumber = std::uint64_t;  // 0: before the first event
using Microseconds = std::int64_t;
using TextFields = std::vector<std::pair<std::string, std::string>>;  // a config: names and values

// An event lists its fields once, by name, for its binary form and for JSON. `tag` and `version` stand before the
// binary form; they are never given another meaning. A changed list of fields gets a new version. Fields that version 2
// has added are a list of their own, visit_added(): an event that says nothing in them is written in version 1.
struct Created {
  static constexpr std::uint8_t tag = 1, version = 1;
  static constexpr std::string_view name = "created";
  std::string agent;  // its spec with every field
  std::uint64_t context_size = 0, seed = 0;
  std::vector<std::string> actions;  // their names; none: candidates come with each decision
  TextFields config;                 // LiveConfig
  std::string schema;                // of named contexts, JSON; empty: contexts are vectors
  std::string engine;                // what computes: see engine_name()

  template <class Visit>
  void visit(Visit&& v) {
    v("agent", agent), v("context_size", context_size), v("seed", seed), v("actions", actions);
    v("config", config), v("schema", schema), v("engine", engine);
  }
};

// Before any id below `end` is given. A crash skips the ids that were left.
struct IdsReserved {
  static constexpr std::uint8_t tag = 2, version = 1;
  static constexpr std::string_view name = "ids_reserved";
  DecisionId end = 0;

  template <class Visit>
  void visit(Visit&& v) {
    v("end", end);
  }
};

struct Decided {
  static constexpr std::uint8_t tag = 3, version = 2;
  static constexpr std::string_view name = "decided";
  DecisionId id = 0;
  std::string key;                    // the caller's own name of the decision; may be empty
  EventNumber model = 0;              // the policy had learned events 1..model
  Action action = 0;                  // that was taken
  bool active = true;                 // false: counts only once it is activated or rewarded
  float floor = 0.0F;                 // share of decisions made uniformly
  float propensity_error = 0.0F;      // largest standard error of the propensities; 0: exact
  std::vector<float> propensities;    // (K) of every action, or of every candidate
  std::vector<std::uint8_t> allowed;  // (K) the caller's mask; empty: all
  std::vector<float> x;               // (d) the encoded context; empty: erased
  std::vector<float> features;        // (K·f) of each of them, row by row, where the decision came with them
  std::string context;                // the named context as it came, JSON; may be empty
  std::string engine{};               // of the server that decided, where it was not that of its model; else empty

  void clear() {  // as a new one, in the memory that it has
    const auto empty = [](std::string_view, auto& field) {
      if constexpr (requires { field.clear(); }) {
        field.clear();
      } else {
        field = {};
      }
    };
    visit(empty), visit_added(empty);
    active = true;
  }
  bool has_added() const { return !engine.empty(); }
  template <class Visit>
  void visit_added(Visit&& v) {
    v("engine", engine);
  }
  template <class Visit>
  void visit(Visit&& v) {
    v("id", id), v("key", key), v("model", model), v("action", action), v("active", active), v("floor", floor);
    v("propensity_error", propensity_error), v("propensities", propensities), v("allowed", allowed), v("x", x);
    v("features", features), v("context", context);
  }
};

// What was decided has been shown.
struct Activated {
  static constexpr std::uint8_t tag = 4, version = 1;
  static constexpr std::string_view name = "activated";
  DecisionId id = 0;
  EventNumber previous = 0;

  template <class Visit>
  void visit(Visit&& v) {
    v("id", id), v("previous", previous);
  }
};

struct Rewarded {
  static constexpr std::uint8_t tag = 5, version = 1;
  static constexpr std::string_view name = "rewarded";
  DecisionId id = 0;
  EventNumber previous = 0;
  float value = 0.0F;
  std::string key;  // of this reward: the same key again is a retry; may be empty

  template <class Visit>
  void visit(Visit&& v) {
    v("id", id), v("previous", previous), v("value", value), v("key", key);
  }
};

// `lost`: a restored decision's end, where those without a reward settle to a default. Those among the lost ones have
// not come back, so that learning the others would teach only what was rewarded.
enum class SettleReason : std::uint8_t { reward, expired, cancelled, lost };
template <>
inline constexpr auto enum_names<SettleReason> = std::array{"reward", "expired", "cancelled", "lost"};

// The end of a decision: what is learned of it, unless it was cancelled or lost. Every decision settles once.
struct Settled {
  static constexpr std::uint8_t tag = 6, version = 1;
  static constexpr std::string_view name = "settled";
  DecisionId id = 0;
  EventNumber previous = 0;
  float value = 0.0F;
  SettleReason reason = SettleReason::reward;

  template <class Visit>
  void visit(Visit&& v) {
    v("id", id), v("previous", previous), v("value", value), v("reason", reason);
  }
};

struct ActionsAdded {
  static constexpr std::uint8_t tag = 7, version = 1;
  static constexpr std::string_view name = "actions_added";
  Action first = 0;
  std::vector<std::string> names;

  template <class Visit>
  void visit(Visit&& v) {
    v("first", first), v("names", names);
  }
};

struct ActionRetired {
  static constexpr std::uint8_t tag = 8, version = 1;
  static constexpr std::string_view name = "action_retired";
  Action action = 0;

  template <class Visit>
  void visit(Visit&& v) {
    v("action", action);
  }
};

struct ConfigChanged {
  static constexpr std::uint8_t tag = 9, version = 1;
  static constexpr std::string_view name = "config_changed";
  TextFields config;  // LiveConfig, whole

  template <class Visit>
  void visit(Visit&& v) {
    v("config", config);
  }
};

// Another build or SIMD target goes on from here: bits are comparable only between two of these events.
struct EngineChanged {
  static constexpr std::uint8_t tag = 10, version = 1;
  static constexpr std::string_view name = "engine_changed";
  std::string engine;

  template <class Visit>
  void visit(Visit&& v) {
    v("engine", engine);
  }
};

// Contexts of some decisions were blanked, or old events dropped. A replay starts at `base` or later: a snapshot that
// is kept for it.
struct Erased {
  static constexpr std::uint8_t tag = 11, version = 2;
  static constexpr std::string_view name = "erased";
  EventNumber base = 0;
  std::uint64_t decisions = 0;  // how many
  std::string reason;
  EventNumber dropped = 0;  // the events before this one, but for the first group, which sums them up; 0: none

  bool has_added() const { return dropped > 0; }
  template <class Visit>
  void visit_added(Visit&& v) {
    v("dropped", dropped);
  }
  template <class Visit>
  void visit(Visit&& v) {
    v("base", base), v("decisions", decisions), v("reason", reason);
  }
};

// A training sees the events up to this one. Until it is adopted, outcomes go on updating the model of before.
struct TrainingBegan {
  static constexpr std::uint8_t tag = 12, version = 1;
  static constexpr std::string_view name = "training_began";
  std::uint64_t observations = 0;  // learned so far

  template <class Visit>
  void visit(Visit&& v) {
    v("observations", observations);
  }
};

// What was trained takes the place of the model of before, once it has learned the outcomes in between.
struct TrainingAdopted {
  static constexpr std::uint8_t tag = 13, version = 1;
  static constexpr std::string_view name = "training_adopted";
  EventNumber began = 0;  // its TrainingBegan
  std::string problem;    // why it moved nothing; empty: it did

  template <class Visit>
  void visit(Visit&& v) {
    v("began", began), v("problem", problem);
  }
};

// A training that was due did not begin, or one that began is never adopted.
struct TrainingSkipped {
  static constexpr std::uint8_t tag = 14, version = 1;
  static constexpr std::string_view name = "training_skipped";
  EventNumber began = 0;  // 0: it did not begin
  std::string reason;

  template <class Visit>
  void visit(Visit&& v) {
    v("began", began), v("reason", reason);
  }
};

// The events up to here are those of another bandit's log, from which this one was taught. It made none of the
// decisions among them: they cannot be made again from this log.
struct Taught {
  static constexpr std::uint8_t tag = 15, version = 1;
  static constexpr std::string_view name = "taught";
  std::string agent;       // of the other bandit
  std::uint64_t seed = 0;  // of it
  EventNumber events = 0;  // of its log
  std::uint64_t decisions = 0, left_out = 0;

  template <class Visit>
  void visit(Visit&& v) {
    v("agent", agent), v("seed", seed), v("events", events), v("decisions", decisions), v("left_out", left_out);
  }
};

// A decision whose record was lost, in a crash or because it was never logged, and that came back with its token. What
// brought it follows in the same group.
struct Restored : Decided {
  static constexpr std::uint8_t tag = 16, version = 1;
  static constexpr std::string_view name = "restored";
  Microseconds utc = 0;  // when it was decided

  template <class Visit>
  void visit(Visit&& v) {
    Decided::visit(v);
    v("utc", utc);
  }
};

// Decisions that were answered but not logged, because too many were not written yet.
struct Gap {
  static constexpr std::uint8_t tag = 17, version = 1;
  static constexpr std::string_view name = "gap";
  std::uint64_t decisions = 0;  // how many, since the last gap

  template <class Visit>
  void visit(Visit&& v) {
    v("decisions", decisions);
  }
};

using Event = std::variant<Created, IdsReserved, Decided, Activated, Rewarded, Settled, ActionsAdded, ActionRetired,
                           ConfigChanged, EngineChanged, Erased, TrainingBegan, TrainingAdopted, TrainingSkipped,
                           Taught, Restored, Gap>;

// The decision that an event records, also one that was restored; null: the event is about something else.
const Decided* decision_in(const Event& event);
Decided* decision_in(Event& event);
// What it was made of was blanked: it can be neither learned nor made again.
bool was_erased(const Decided& decided, std::size_t context_size, bool candidates);

}  // namespace pits
