#include "pits/agent/ucb1.h"

#include <cmath>
#include <limits>

namespace pits {

Fields fields(Ucb1Config& c) {
  return Fields{}
      .add("range", c.range, "width of the interval that rewards lie in", above(0))
      .add("initial_pulls", c.initial_pulls, "forced round-robin pulls of each action", at_least(0));
}

Ucb1::Ucb1(const Ucb1Config& config, const AgentSetup& setup)
    : config_(checked(config)), setup_(setup), total_(setup.actions), pulls_(setup.actions) {}

double Ucb1::bound(Action a) const {
  if (pulls_[a] == 0.0) return std::numeric_limits<double>::infinity();
  const double width = std::sqrt(2.0 * std::log(static_cast<double>(events_)) / pulls_[a]);
  return total_[a] / pulls_[a] + config_.range * width;
}

Decision Ucb1::choose(const Query& query) const {
  check_query(query, setup_);
  if (const auto forced = forced_pull(events_, config_.initial_pulls, query, setup_.first_actions())) return *forced;
  std::vector<double> bounds(setup_.actions);
  for (Action a = 0; a < setup_.actions; ++a) bounds[a] = bound(a);
  return certain(best_action(bounds, query.actions), query);
}

void Ucb1::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    total_[event.action] += event.reward;
    pulls_[event.action] += 1.0;
    ++events_;
  }
}

}  // namespace pits
