#include "pits/agent/agent.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "pits/core/error.h"
#include "pits/core/interrupt.h"

namespace pits {
namespace {

void check_context(ContextView x, const AgentSetup& setup) {
  if (x.size() != setup.context_size) {
    throw bad_input("a context has {} numbers, not {}", setup.context_size, x.size());
  }
  // By bits, and no way out of the loop before its end, so that it vectorises.
  constexpr std::uint32_t exponent = 0x7f800000;
  std::uint32_t infinite = 0;
  for (const float v : x) infinite |= (std::bit_cast<std::uint32_t>(v) & exponent) == exponent ? 1U : 0U;
  if (infinite != 0) throw bad_input("a context is not finite");
}

// Sizes that an index of 32 bits can hold; the product of any two of them fits into 64 bits.
const AgentSetup& checked_sizes(const AgentSetup& setup) {
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  const auto check = [&](const char* what, std::size_t n) {
    if (n > most) throw bad_input("{} must be at most {}, not {}", what, most, n);
  };
  check("the size of a context", setup.context_size);
  check("the number of actions", setup.actions);
  if (!(setup.floor >= 0.0 && setup.floor <= 1.0)) throw bad_input("floor must be in 0..1, not {}", setup.floor);
  return setup;
}

// The stream of simulated decision n of a sample: its key is a draw of the decision's own.
Stream simulation_stream(const AgentSetup& setup, DecisionId id, std::uint32_t n) {
  Stream key = decision_stream(setup, id, Purpose::imagined_decision);
  const std::uint64_t low = key.word();
  return Stream({.seed = low | std::uint64_t{key.word()} << 32,
                 .realization = setup.realization,
                 .purpose = Purpose::imagined_decision,
                 .step = n});
}

}  // namespace

Fields fields(Exploration& c) {
  return Fields{}
      .add("initial_pulls", c.initial_pulls, "forced pulls of each action", at_least(0))
      .add("cold_start", c.cold_start,
           "forced pulls by turns, or drawn uniformly among the actions with fewer than initial_pulls rewards")
      .add("floor", c.floor, "share of decisions made uniformly, so that no action's probability is 0", between(0, 1))
      .add("floor_decay", c.floor_decay, "the share falls with the rewards learned: floor/(1 + floor_decay·t)",
           at_least(0));
}

void ActionProbabilities::set_uniform(std::span<const Action> actions) {
  std::ranges::fill(p, 0.0);
  for (const Action a : actions) p[a] = 1.0 / static_cast<double>(actions.size());
  exact = true;
}

Agent::Agent(const AgentSetup& setup, const Exploration& exploration)
    : setup_(checked_sizes(setup)),
      exploration_(checked(exploration)),
      forced_pulls_(exploration_.cold_start, exploration_.initial_pulls, setup_.actions, setup_.first_actions()) {}

// The larger of the two. Pulls by turns are as published: there an agent's own floor begins after them.
double Agent::floor(bool forced) const {
  const double own = exploration_.floor / (1.0 + exploration_.floor_decay * static_cast<double>(events_));
  const bool turn = forced && exploration_.cold_start == ColdStart::round_robin;
  return turn ? setup_.floor : std::max(setup_.floor, own);
}

Action Agent::own_decision(const Query& query, std::span<const Action> forced, Stream& stream,
                           ActionProbabilities* exact) const {
  if (forced.empty()) return decide(query, stream, exact);
  if (exact != nullptr) exact->set_uniform(forced);
  skip_to_position(stream, query, 1);
  return forced[stream.index(static_cast<std::uint32_t>(forced.size()))];
}

Action Agent::choose(const Query& query, std::span<const Action> forced, double floor,
                     ActionProbabilities* exact) const {
  Stream stream = decision_stream(setup_, query.id);
  const bool by_chance = floor > 0.0 && stream.uniform() < floor;
  Action action = 0;
  if (!by_chance || exact != nullptr) {
    Stream own = stream;
    action = own_decision(query, forced, own, exact);
    if (exact != nullptr) exact->drawn = action;
  }
  if (by_chance) {
    skip_to_position(stream, query, 1);
    action = random_action(stream, query.actions, query.actions.size(actions()));
  }
  return action;
}

Decision Agent::choose(const Query& query) const {
  check(query);
  thread_local std::vector<Action> forced;
  forced_pulls_.find(query, events_, forced);
  const double floor = this->floor(!forced.empty());
  thread_local ActionProbabilities exact;
  exact.p.resize(query.actions.size(actions()));
  exact.exact = false;
  const Action action = choose(query, forced, floor, query.want_propensity ? &exact : nullptr);
  if (!exact.exact) return {.action = action, .propensity = std::nullopt};
  const double even = floor > 0.0 ? floor / static_cast<double>(query.actions.count(actions())) : 0.0;
  return {.action = action, .propensity = static_cast<float>((1.0 - floor) * exact.p[action] + even)};
}

Action Agent::decide(const Query& query, Stream& stream, ActionProbabilities* exact) const {
  thread_local std::vector<double> out;
  out.resize(actions());
  values(query.x, stream, out);
  const Action action = best_action(out, query.actions);
  if (exact != nullptr) {
    thread_local std::vector<ValueLaw> laws;
    laws.resize(actions());
    if (deterministic()) {
      exact->set_certain(action);
    } else if (value_laws(query.x, laws) && best_probabilities(laws, query.actions, exact->p)) {
      exact->exact = true;
      exact->tolerance = best_tolerance;
    }
  }
  return action;
}

void Agent::values(ContextView, Stream&, std::span<double>) const {
  throw failed("this kind of agent has neither decide nor values");
}

double Agent::propensities(const Query& query, std::uint32_t draws, std::span<float> p, std::uint64_t sample,
                           Action* chosen) const {
  check(query);
  check_size(p, query.actions.size(actions()));
  std::ranges::fill(p, 0.0F);
  thread_local std::vector<Action> forced;
  forced_pulls_.find(query, events_, forced);
  const double floor = this->floor(!forced.empty());
  thread_local ActionProbabilities own;
  own.p.assign(p.size(), 0.0);
  own.exact = false;
  own.tolerance = 0.0;
  const Action action = choose(query, forced, floor, &own);
  if (chosen != nullptr) *chosen = action;
  double variance = 0.0;  // of a simulated decision
  if (!own.exact) {
    if (draws == 0) throw bad_input("probabilities without a closed form need at least one draw");
    std::ranges::fill(own.p, 0.0);
    if (chosen != nullptr) own.p[own.drawn] = 1.0;
    const double drawn = draws + (chosen != nullptr ? 1.0 : 0.0);
    for (std::uint32_t n = 1; n <= draws; ++n) {
      check_interrupt();
      Stream simulated = simulation_stream(setup_, query.id + sample, n);
      own.p[decide(query, simulated, nullptr)] += 1.0;
    }
    variance = 1.0 / drawn;  // of one draw: where all draws agree, the estimate is still no exact 1
    for (double& share : own.p) {
      share /= drawn;
      variance = std::max(variance, share * (1.0 - share));
    }
  }
  const double even = floor / static_cast<double>(query.actions.count(actions()));
  for (Action a = 0; a < p.size(); ++a) {
    if (query.actions.admits(a)) p[a] = static_cast<float>((1.0 - floor) * own.p[a] + even);
  }
  return (1.0 - floor) * (own.exact ? own.tolerance : std::sqrt(variance / draws));
}

void Agent::check(const Query& query) const {
  check_context(query.x, setup_);
  if (query.actions.features.size() > 0) check_takes_features();
  if (actions() == 0 && query.actions.features.size() == 0) {
    throw bad_input("the agent has no actions of its own: a decision must bring candidates, a row of features each");
  }
  const auto& allowed = query.actions.allowed;
  if (const std::size_t K = query.actions.size(actions()); !allowed.empty() && allowed.size() != K) {
    throw bad_input("a mask of actions has {} entries, not {}", K, allowed.size());
  }
  if (query.actions.count(actions()) == 0) throw bad_input("no action is allowed");
  check_features(query);
}

void Agent::check(const Feedback& event) const {
  check_context(event.x, setup_);
  const bool candidate = actions() == 0 && takes_features();
  if (!candidate && event.action >= actions())
    throw bad_input("an action must be below {}, not {}", actions(), event.action);
  if (!event.z.empty()) check_takes_features();
  if (!std::isfinite(event.reward)) throw bad_input("a reward must be finite, not {}", event.reward);
}

void Agent::check_takes_features() const {
  if (!takes_features())
    throw bad_input("this kind of agent would ignore the features of actions; feature-ts uses them");
}

void Agent::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check(event);
    try {
      observe(event);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::input) count(event);  // it was stored, and a training after it failed
      throw;
    }
    count(event);
  }
}

void Agent::count(const Feedback& event) {
  ++events_;
  forced_pulls_.learned(event, events_);
}

void Agent::archive(Archive& archive) {
  archive.version("Agent", 1)(events_, forced_pulls_);
  state(archive);
}

void Agent::add_actions(std::size_t n) {
  if (actions() == 0) throw bad_input("actions cannot be added where candidates come with each decision");
  grow(n);
  setup_.add_actions(n);
  forced_pulls_.add_actions(n, events_);
}

void Agent::grow(std::size_t) { throw failed("this kind of agent cannot take new actions during a run"); }

bool Agent::draw_rewards(ContextView, std::uint32_t, std::span<double>) const { return false; }

bool Agent::mean_rewards(ContextView, std::span<double>) const { return false; }

Stream posterior_stream(const AgentSetup& setup, std::uint32_t draw) {
  return Stream(
      {.seed = setup.seed, .realization = setup.realization, .purpose = Purpose::posterior_draw, .step = draw});
}

// The counter has room for 32 bits of the id; the high ones go into the key, spread by an odd constant so that seeds
// next to each other stay apart.
Stream decision_stream(const AgentSetup& setup, DecisionId id, Purpose purpose) {
  return Stream({.seed = setup.seed + (id >> 32) * 0x9e3779b97f4a7c15U,
                 .realization = setup.realization,
                 .purpose = purpose,
                 .step = static_cast<std::uint32_t>(id)});
}

void skip_to_position(Stream& stream, const Query& query, std::uint32_t words) {
  for (std::uint32_t i = 0; i < query.rank_position * words; ++i) stream.word();
}

std::vector<Action> ranking(const Agent& agent, const Query& query, std::size_t k) {
  const std::size_t K = query.actions.size(agent.setup().actions);
  std::vector<std::uint8_t> left(K, 1);
  for (Action a = 0; a < K; ++a) left[a] = query.actions.admits(a) ? 1 : 0;
  Query next = query;
  next.want_propensity = false;  // it may cost all particles, and later positions have none
  next.actions.allowed = left;
  std::vector<Action> ranked;
  for (std::size_t n = std::min(k, next.actions.count(K)); ranked.size() < n; ++next.rank_position) {
    ranked.push_back(agent.choose(next).action);
    left[ranked.back()] = 0;
  }
  return ranked;
}

void check_size(std::span<const float> p, std::size_t K) {
  if (p.size() != K) throw bad_input("{} actions have as many probabilities, not {}", K, p.size());
}

}  // namespace pits
