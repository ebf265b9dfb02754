#include "pits/agent/logistic_ts.h"

#include <cmath>

#include "pits/agent/lin_ts.h"

namespace pits {

Fields fields(LogisticTsConfig& c) {
  return Fields{}
      .merge(fields(c.posterior))
      .add("initial_pulls", c.initial_pulls, "forced round-robin pulls of each action", at_least(0))
      .merge(fields(c.memory));
}

LogisticTs::LogisticTs(const LogisticTsConfig& config, const AgentSetup& setup)
    : config_(checked(config)),
      setup_(setup),
      posteriors_(config.memory, setup,
                  BayesLogistic(config.posterior, static_cast<Eigen::Index>(setup.context_size) + 1)) {}

// The largest x·w is the largest probability of a reward, and a draw of w enters by x·w alone.
Decision LogisticTs::choose(const Query& query) const {
  check_query(query, setup_);
  if (const auto forced = forced_pull(events_, config_.initial_pulls, query, setup_.first_actions())) return *forced;
  Stream stream = decision_stream(setup_, query);
  const Eigen::VectorXd x = with_intercept(query.x);
  std::vector<double> drawn(setup_.actions);
  for (Action a = 0; a < setup_.actions; ++a) {
    drawn[a] = posteriors_[a].mean().dot(x) + std::sqrt(posteriors_[a].variance(x)) * stream.normal();
  }
  return {.action = best_action(drawn, query.actions), .propensity = std::nullopt};
}

void LogisticTs::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    if (event.reward < 0.0F || event.reward > 1.0F) {
      throw bad_input("logistic-ts needs rewards in 0..1, not {}; try lin-ts", event.reward);
    }
    posteriors_.learn(event, [](BayesLogistic& posterior, ContextView x, double reward) {
      posterior.observe(with_intercept(x), reward);
    });
    ++events_;
  }
}

void LogisticTs::add_actions(std::size_t n) {
  setup_.add_actions(n);
  posteriors_.add_actions(n);
}

}  // namespace pits
