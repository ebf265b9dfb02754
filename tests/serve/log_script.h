// Logs that are written by hand, and read by a plain loop.
#pragma once

#include <map>

#include "log/memory_store.h"
#include "pits/core/random.h"
#include "pits/log/live_config.h"

namespace pits::test {

// Writes events into a store, group by group; times are set by hand.
struct Script {
  Store& store;
  GroupWriter group{};
  GroupTime time{.utc = 1'800'000'000 * second, .elapsed = 0};
  EventNumber next = 1;

  explicit Script(Store& to, const LiveConfig& config = {}, std::size_t actions = 3) : store(to) {
    Created created;
    created.agent = "uniform";
    for (std::size_t a = 0; a < actions; ++a) created.actions.push_back(fmt::format("a{}", a));
    created.config = as_text(config);
    group.add(created);
    commit();
  }
  void pass(double seconds) {
    commit();
    time.utc += static_cast<Microseconds>(seconds * 1e6);
    time.elapsed += static_cast<Microseconds>(seconds * 1e6);
  }
  void commit() {
    if (group.count() == 0) return;
    store.commit({.first = next, .group = group.finish(time)});
    next += group.count();
    group = {};
  }
  Decided decide(DecisionId id, Action action, std::vector<float> p, float floor = 0.02F, EventNumber model = 1) {
    Decided decided;
    decided.id = id, decided.model = model, decided.action = action, decided.floor = floor;
    decided.propensities = std::move(p);
    group.add(decided);
    return decided;
  }
  void settle(DecisionId id, float value, SettleReason reason = SettleReason::reward) {
    if (reason == SettleReason::reward) group.add(Rewarded{.id = id, .previous = 0, .value = value, .key = {}});
    group.add(Settled{.id = id, .previous = 0, .value = value, .reason = reason});
  }
};

// A shop of a day or less: masks, late rewards, windows that close, cancelled decisions, an action that is retired and
// one that is added.
inline void play(Script& script, std::size_t n, double seconds_each, std::uint64_t seed = 5) {
  std::vector<std::pair<std::size_t, std::pair<DecisionId, bool>>> open;  // settles in round, id, click
  std::size_t actions = 3;
  for (std::size_t i = 0; i < n; ++i) {
    Stream stream({.seed = seed, .step = static_cast<std::uint32_t>(i)});
    if (i == n / 2) script.group.add(ActionsAdded{.first = 3, .names = {"late"}}), actions = 4;
    if (i == n / 3) script.group.add(ActionRetired{.action = 2});
    std::vector<float> p(actions);
    float sum = 0.0F;
    for (std::size_t a = 0; a < actions; ++a) {
      if ((a == 2 && i >= n / 3) || (a == 1 && i % 7 == 0)) continue;
      sum += p[a] = 0.05F + static_cast<float>(stream.uniform());
    }
    for (float& one : p) one /= sum;
    const std::vector<double> law(p.begin(), p.end());
    const auto action = static_cast<Action>(stream.categorical(law));
    Decided decided;
    decided.id = i + 1, decided.model = i / 40, decided.action = action, decided.floor = 0.02F;
    decided.propensities = p;
    if (i % 7 == 0)
      decided.allowed = actions == 3 ? std::vector<std::uint8_t>{1, 0, 1} : std::vector<std::uint8_t>{1, 0, 1, 1};
    script.group.add(decided);
    const bool click = stream.uniform() < 0.2 + 0.15 * action;
    open.emplace_back(i + (click ? stream.index(10) : 40), std::pair(i + 1, click));
    std::erase_if(open, [&](const auto& one) {
      if (one.first > i) return false;
      const auto [id, clicked] = one.second;
      const bool cancelled = id % 23 == 0;
      script.settle(id, clicked && !cancelled ? 1.0F : 0.0F,
                    cancelled ? SettleReason::cancelled
                    : clicked ? SettleReason::reward
                              : SettleReason::expired);
      return true;
    });
    if (i % 100 == 99) script.group.add(TrainingAdopted{.began = i, .problem = i == 99 ? "it did not move" : ""});
    script.pass(seconds_each);
  }
  script.commit();
}

struct TimedDecision {
  Decided decided;
  Microseconds elapsed;
  std::optional<Settled> settled{};
};

// All decisions of a store, in order, with what they settled to.
inline std::vector<TimedDecision> decisions_of(const Store& store, EventNumber from = 1) {
  std::vector<TimedDecision> all;
  std::map<DecisionId, std::size_t> places;
  for (EventNumber n = from; const auto group = store.group_holding(n); ++n) {
    const Event event = group->event(n);
    if (const auto* decided = std::get_if<Decided>(&event)) {
      places[decided->id] = all.size();
      all.push_back({.decided = *decided, .elapsed = group->time().elapsed});
    } else if (const auto* settled = std::get_if<Settled>(&event); settled && places.contains(settled->id)) {
      all[places.at(settled->id)].settled = *settled;
    }
  }
  return all;
}

}  // namespace pits::test
