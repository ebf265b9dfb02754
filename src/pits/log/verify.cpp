// Makes logged decisions again. A decision is a function of (events 1..model, id, context, mask): the learner is taken
// to each model in turn, once through the log.
#include <algorithm>

#include "pits/log/audit.h"
#include "pits/log/live_config.h"
#include "pits/log/simd_pin.h"

namespace pits {
namespace {

constexpr std::size_t most_examples = 10;

// Events between two changes of the engine; the first period starts with event 1.
struct Period {
  EventNumber start;
  std::string engine;
  std::vector<std::pair<EventNumber, EventNumber>> decisions;  // model and number
};

struct Contents {
  std::vector<Period> periods;
  EventNumber base = 0;            // a replay starts here or later
  std::uint64_t out_of_reach = 0;  // erased, restored, or of another bandit
  std::uint64_t other_engine = 0;  // decided by a server that was not of its model's engine

  // The one that the model is of. A decision may be written after an engine has changed.
  Period& of(EventNumber model) {
    auto period = periods.rbegin();
    while (period + 1 != periods.rend() && period->start > model) ++period;
    return *period;
  }
};

Contents read_contents(const Store& store) {
  Contents all;
  const Created log = created_event(store);
  for_each_event(store, [&](EventNumber number, const GroupTime&, const Event& event) {
    if (const auto* created = std::get_if<Created>(&event)) all.periods.push_back({1, created->engine, {}});
    if (const auto* changed = std::get_if<EngineChanged>(&event)) all.periods.push_back({number, changed->engine, {}});
    if (const auto* erased = std::get_if<Erased>(&event)) all.base = std::max(all.base, erased->base);
    if (std::holds_alternative<Restored>(event)) ++all.out_of_reach;
    if (std::holds_alternative<Taught>(event)) {
      for (Period& period : all.periods) {
        all.out_of_reach += period.decisions.size();
        period.decisions.clear();
      }
    }
    if (const auto* decided = std::get_if<Decided>(&event)) {
      Period& period = all.of(decided->model);
      if (was_erased(*decided, log.context_size, log.actions.empty())) {
        ++all.out_of_reach;
      } else if (!decided->engine.empty() && decided->engine != period.engine) {
        ++all.other_engine;
      } else {
        period.decisions.emplace_back(decided->model, number);
      }
    }
  });
  return all;
}

// The first state of this engine in the period from which the events can be learned. A snapshot that cannot be read is
// as none.
std::optional<Learner> first_state(const Store& store, const Period& period, EventNumber end, EventNumber base) {
  if (period.start == 1 && base == 0) return Learner(store);
  for (const Snapshot& snapshot : store.snapshots()) {
    const bool inside = snapshot.number >= period.start && snapshot.number < end && snapshot.number >= base;
    if (!inside || snapshot.engine != period.engine) continue;
    std::string why;
    if (auto learner = started(store, snapshot.number, why)) return learner;
  }
  return std::nullopt;
}

bool is_same(const ServingPolicy& policy, const Decided& logged) {
  const std::size_t K = logged.propensities.size();
  if (!policy.retired.empty() && policy.retired.size() != K) return false;
  ActionSet actions{.allowed = logged.allowed, .features = {}};
  if (!logged.features.empty()) actions.features = {logged.features.data(), K, logged.features.size() / K};
  std::vector<float> p(K);
  Action action = 0;
  const double error = policy.probabilities(logged.x, actions, logged.id, 0, p, &action);
  return action == logged.action && p == logged.propensities && static_cast<float>(error) == logged.propensity_error;
}

void verify(const Store& store, Period& period, EventNumber end, EventNumber base, Verification& found) {
  auto learner = first_state(store, period, end, base);
  std::ranges::sort(period.decisions);
  std::optional<GroupReader> group;  // of the last decision: reading it checks all of its bytes
  for (const auto& [model, number] : period.decisions) {
    if (!learner || model < learner->number()) {
      ++found.out_of_reach;
      continue;
    }
    learner->follow(model);
    if (!group || number < group->first() || number > group->last()) group = store.group_holding(number);
    const auto logged = std::get<Decided>(group.value().event(number));
    if (is_same(learner->bandit().policy(), logged)) {
      ++found.same;
    } else {
      ++found.different;
      if (found.examples.size() < most_examples) found.examples.push_back(logged.id);
    }
  }
}

}  // namespace

Verification verify_log(const Store& store) {
  Contents contents = read_contents(store);
  Verification found;
  found.out_of_reach = contents.out_of_reach;
  found.other_engine = contents.other_engine;
  for (std::size_t i = 0; i < contents.periods.size(); ++i) {
    Period& period = contents.periods[i];
    const EventNumber end = i + 1 < contents.periods.size() ? contents.periods[i + 1].start : store.last() + 1;
    const SimdPin pin(period.engine);
    if (period.engine == engine_name()) {
      verify(store, period, end, contents.base, found);
    } else {
      found.other_engine += period.decisions.size();
    }
  }
  return found;
}

}  // namespace pits
