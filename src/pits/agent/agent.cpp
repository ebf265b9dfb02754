#include "pits/agent/agent.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "pits/core/error.h"

namespace pits {
namespace {

constexpr std::size_t lanes = 16, block = 256;

template <class T>
T largest_in(std::span<const T> values) {
  std::array<T, lanes> most;
  most.fill(-std::numeric_limits<T>::infinity());
  std::size_t i = 0;
  for (; i + lanes <= values.size(); i += lanes) {
    for (std::size_t l = 0; l < lanes; ++l) most[l] = values[i + l] > most[l] ? values[i + l] : most[l];
  }
  T all = *std::ranges::max_element(most);
  for (; i < values.size(); ++i) all = values[i] > all ? values[i] : all;
  return all;
}

// Where nothing is masked: the largest of each block by loops that vectorise, then its place.
template <class T>
Action best_of_many(std::span<const T> values) {
  T best = values[0];
  std::size_t where = 0;
  for (std::size_t start = 0; start < values.size(); start += block) {
    const T largest = largest_in(values.subspan(start, std::min(block, values.size() - start)));
    if (!(largest > best)) continue;
    best = largest;
    where = start;
  }
  while (values[where] != best && !std::isnan(best)) ++where;
  return static_cast<Action>(where);
}

template <class T>
Action best_of(std::span<const T> values, const ActionSet& actions) {
  if (actions.allowed.empty() && values.size() > block) return best_of_many(values);
  std::optional<Action> best;
  for (Action a = 0; a < values.size(); ++a) {
    if (actions.admits(a) && (!best || values[a] > values[*best])) best = a;
  }
  if (!best) throw bad_input("no action is allowed");
  return *best;
}

void check_context(ContextView x, const AgentSetup& setup) {
  if (x.size() != setup.context_size) {
    throw bad_input("a context has {} numbers, not {}", setup.context_size, x.size());
  }
  // No way out of the loop before its end, so that it vectorises.
  bool finite = true;
  for (const float v : x) finite &= std::abs(v) <= std::numeric_limits<float>::max();
  if (!finite) throw bad_input("a context is not finite");
}

}  // namespace

void Agent::add_actions(std::size_t) { throw failed("this kind of agent cannot take new actions during a run"); }

void Agent::state(Archive&) { throw failed("this kind of agent cannot be saved: it has no list of its state"); }

bool Agent::draw_rewards(ContextView, std::uint32_t, std::span<double>) const { return false; }

Stream posterior_stream(const AgentSetup& setup, std::uint32_t draw) {
  return Stream(
      {.seed = setup.seed, .realization = setup.realization, .purpose = Purpose::posterior_draw, .step = draw});
}

std::size_t ActionSet::count(std::size_t K) const {
  return allowed.empty() ? K : static_cast<std::size_t>(std::ranges::count_if(allowed, [](auto m) { return m != 0; }));
}

// The counter has room for 32 bits of the id; the high ones go into the key, spread by an odd constant so that seeds
// next to each other stay apart.
Stream decision_stream(const AgentSetup& setup, DecisionId id, Purpose purpose) {
  return Stream({.seed = setup.seed + (id >> 32) * 0x9e3779b97f4a7c15U,
                 .realization = setup.realization,
                 .purpose = purpose,
                 .step = static_cast<std::uint32_t>(id)});
}

// The key of imagined decisions is a draw of the decision's own.
Stream decision_stream(const AgentSetup& setup, const Query& query) {
  if (query.imagined == 0) return decision_stream(setup, query.id, Purpose::decision);
  Stream key = decision_stream(setup, query.id, Purpose::imagined_decision);
  const std::uint64_t low = key.word();
  return Stream({.seed = low | std::uint64_t{key.word()} << 32,
                 .realization = setup.realization,
                 .purpose = Purpose::imagined_decision,
                 .step = query.imagined});
}

Action best_action(std::span<const float> values, const ActionSet& actions) { return best_of(values, actions); }
Action best_action(std::span<const double> values, const ActionSet& actions) { return best_of(values, actions); }

Action random_action(Stream& stream, const ActionSet& actions, std::size_t K) {
  std::uint32_t skip = stream.index(static_cast<std::uint32_t>(actions.count(K)));
  for (Action a = 0; a < K; ++a) {
    if (actions.admits(a) && skip-- == 0) return a;
  }
  throw bad_input("no action is allowed");
}

void skip_to_place(Stream& stream, const Query& query, std::uint32_t words) {
  for (std::uint32_t i = 0; i < query.place * words; ++i) stream.word();
}

std::vector<Action> ranking(const Policy& policy, const Query& query, std::size_t k, std::size_t K) {
  std::vector<std::uint8_t> left(K, 1);
  for (Action a = 0; a < K; ++a) left[a] = query.actions.admits(a) ? 1 : 0;
  Query next = query;
  next.want_propensity = false;  // which a ranking has no place for, and which may cost all particles
  next.actions.allowed = left;
  std::vector<Action> ranked;
  for (std::size_t n = std::min(k, next.actions.count(K)); ranked.size() < n; ++next.place) {
    ranked.push_back(policy.choose(next).action);
    left[ranked.back()] = 0;
  }
  return ranked;
}

// An action that nothing random chose has probability 1; else decisions are imagined.
double Policy::propensities(const Query& query, std::uint32_t draws, std::span<float> p) const {
  const auto place = [&](Action action) {
    if (action >= p.size()) throw bad_input("action {} has no place among {} probabilities", action, p.size());
    return action;
  };
  Query asked = query;
  asked.want_propensity = true;
  const Decision decision = choose(asked);
  std::ranges::fill(p, 0.0F);
  if (decision.propensity == 1.0F) {
    p[place(decision.action)] = 1.0F;
    return 0.0;
  }
  if (draws == 0) throw bad_input("probabilities without an exact form need at least one draw");
  std::vector<std::uint32_t> counts(p.size(), 0);
  asked.want_propensity = false;
  for (asked.imagined = 1; asked.imagined <= draws; ++asked.imagined) ++counts[place(choose(asked).action)];
  double largest = 1.0 / draws;  // of p(1 − p); draws that all agree are an estimate still, and no exact 1
  for (std::size_t a = 0; a < p.size(); ++a) {
    const double share = static_cast<double>(counts[a]) / draws;
    p[a] = static_cast<float>(share);
    largest = std::max(largest, share * (1.0 - share));
  }
  return std::sqrt(largest / draws);
}

std::optional<Decision> forced_pull(std::uint64_t events, int pulls, const Query& query, std::size_t K) {
  if (events >= static_cast<std::uint64_t>(pulls) * K) return std::nullopt;
  const auto turn = static_cast<Action>(events % K);
  if (!query.actions.admits(turn)) return std::nullopt;
  return certain(turn, query);
}

Decision certain(Action action, const Query& query) {
  return {.action = action, .propensity = query.want_propensity ? std::optional(1.0F) : std::nullopt};
}

void check_query(const Query& query, const AgentSetup& setup) {
  check_context(query.x, setup);
  const auto& allowed = query.actions.allowed;
  if (!allowed.empty() && allowed.size() != setup.actions) {
    throw bad_input("a mask of actions has {} entries, not {}", setup.actions, allowed.size());
  }
  if (query.actions.count(setup.actions) == 0) throw bad_input("no action is allowed");
}

void check_places(std::span<const float> p, std::size_t K) {
  if (p.size() != K) throw bad_input("{} actions have as many probabilities, not {}", K, p.size());
}

void check_feedback(const Feedback& event, const AgentSetup& setup) {
  check_context(event.x, setup);
  if (event.action >= setup.actions) {
    throw bad_input("an action must be below {}, not {}", setup.actions, event.action);
  }
  if (!std::isfinite(event.reward)) throw bad_input("a reward must be finite, not {}", event.reward);
}

}  // namespace pits
