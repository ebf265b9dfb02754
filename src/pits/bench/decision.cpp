// Single decisions of pi-ts: by one particle, and with the exact probability over all of them.
#include "pits/agent/particle/pi_ts.h"
#include "pits/bench/operations.h"
#include "pits/bench/plain.h"
#include "pits/bench/problem.h"
#include "pits/bench/singles.h"

namespace pits::bench {
namespace {

using State = benchmark::State;

constexpr std::size_t contexts_in_turn = 64;

PiTs agent_of(const Shape& shape) {
  return PiTs({.posterior = particle_config(shape), .exploration = {.initial_pulls = 0}}, {.context_size = shape.d, .actions = shape.K});
}

void decide(const Shape& shape, bool want_propensity, State& state) {
  const PiTs agent = agent_of(shape);
  const Matrix<float> x = contexts_of(shape, contexts_in_turn);
  time_singles(state, [&](std::size_t n) {
    return agent.choose({.x = x.row(n % contexts_in_turn), .id = n, .want_propensity = want_propensity}).action;
  });
}

void plain_decide(const Shape& shape, bool want_propensity, State& state) {
  const PiTs agent = agent_of(shape);
  PlainNetworks networks({shape.d, hidden, hidden, shape.K}, 0.1F, agent.posterior().particles());
  const Matrix<float> x = contexts_of(shape, contexts_in_turn);
  time_singles(state, [&](std::size_t n) {
    const std::span<const float> context = x.row(n % contexts_in_turn);
    const std::uint32_t action = networks.best_action(n % shape.M, context);
    std::uint32_t votes = 0;
    for (std::size_t i = 0; want_propensity && i < shape.M; ++i) votes += networks.best_action(i, context) == action;
    return action + votes;
  });
}

Case decision_case(const Shape& s, bool everybody) {
  const double forward_passes = everybody ? static_cast<double>(s.M) : 1.0;
  return {.name = fmt::format("{}/{}", everybody ? "decision-propensity" : "decision", s.name()),
          .body = [s, everybody](State& state) { decide(s, everybody, state); },
          .operations = forward_passes * decision_operations(s),
          .timing = Timing::manual,
          .reference = [s, everybody](State& state) { plain_decide(s, everybody, state); },
          .torch = fmt::format("{}:{}:{}:{}", everybody ? "decide-all" : "decide", s.d, s.K, s.M)};
}

}  // namespace

std::vector<Case> decision_cases() {
  std::vector<Case> cases;
  for (const Shape& s : shapes()) {
    if (s.ones > 0) continue;
    cases.push_back(decision_case(s, false));
    cases.push_back(decision_case(s, true));
  }
  return cases;
}

}  // namespace pits::bench
