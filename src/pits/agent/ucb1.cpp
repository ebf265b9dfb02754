#include "pits/agent/ucb1.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pits {

Fields fields(Ucb1Config& c) {
  return Fields{}
      .add("range", c.range, "width of the interval that rewards lie in", above(0))
      .add("initial_pulls", c.initial_pulls, "forced round-robin pulls of each action", at_least(0))
      .merge(fields(c.memory));
}

Ucb1::Ucb1(const Ucb1Config& config, const AgentSetup& setup)
    : config_(checked(config)), setup_(setup), tallies_(config.memory, setup, Tally{}) {}

double Ucb1::remembered() const {
  double t = 0.0;
  for (Action a = 0; a < setup_.actions; ++a) t += tallies_[a].pulls;
  return t;
}

double Ucb1::bound(Action a, double t) const {
  const auto& [total, pulls] = tallies_[a];
  if (pulls == 0.0) return std::numeric_limits<double>::infinity();
  const double width = std::sqrt(2.0 * std::log(std::max(t, 1.0)) / pulls);
  return total / pulls + config_.range * width;
}

Decision Ucb1::choose(const Query& query) const {
  check_query(query, setup_);
  if (const auto forced = forced_pull(events_, config_.initial_pulls, query, setup_.first_actions())) return *forced;
  std::vector<double> bounds(setup_.actions);
  const double t = remembered();
  for (Action a = 0; a < setup_.actions; ++a) bounds[a] = bound(a, t);
  return certain(best_action(bounds, query.actions), query);
}

void Ucb1::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    tallies_.learn(event, [](Tally& tally, ContextView, double reward) {
      tally.total += reward;
      tally.pulls += 1.0;
    });
    ++events_;
  }
}

}  // namespace pits
