#include "pits/agent/lin_ucb.h"

#include <cmath>

namespace pits {

Fields fields(LinUcbConfig& c) {
  return Fields{}
      .add("alpha", c.alpha, "widths of the bound above the estimate", at_least(0))
      .add("lambda", c.lambda, "ridge of the regressions", above(0))
      .add("initial_pulls", c.initial_pulls, "forced round-robin pulls of each action", at_least(0))
      .merge(fields(c.memory));
}

LinUcb::LinUcb(const LinUcbConfig& config, const AgentSetup& setup)
    : config_(checked(config)),
      setup_(setup),
      regressions_(config.memory, setup,
                   BayesLinear({.lambda = config.lambda}, static_cast<Eigen::Index>(setup.context_size) + 1)) {}

double LinUcb::estimate(Action a, ContextView x) const { return regressions_[a].mean().dot(with_intercept(x)); }

double LinUcb::width(Action a, ContextView x) const { return std::sqrt(regressions_[a].leverage(with_intercept(x))); }

Decision LinUcb::choose(const Query& query) const {
  check_query(query, setup_);
  if (const auto forced = forced_pull(events_, config_.initial_pulls, query, setup_.first_actions())) return *forced;
  std::vector<double> bounds(setup_.actions);
  for (Action a = 0; a < setup_.actions; ++a) bounds[a] = estimate(a, query.x) + config_.alpha * width(a, query.x);
  return certain(best_action(bounds, query.actions), query);
}

void LinUcb::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    regressions_.learn(event, [](BayesLinear& regression, ContextView x, double reward) {
      regression.observe(with_intercept(x), reward);
    });
    ++events_;
  }
}

void LinUcb::add_actions(std::size_t n) {
  setup_.add_actions(n);
  regressions_.add_actions(n);
}

}  // namespace pits
