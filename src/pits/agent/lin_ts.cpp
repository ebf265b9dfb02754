#include "pits/agent/lin_ts.h"

#include <algorithm>

namespace pits {
Eigen::VectorXd with_intercept(ContextView x) {
  Eigen::VectorXd row(static_cast<Eigen::Index>(x.size()) + 1);
  std::ranges::copy(x, row.begin());
  row[row.size() - 1] = 1.0;
  return row;
}

Fields fields(LinTsConfig& c) {
  return Fields{}
      .merge(fields(c.prior))
      .add("initial_pulls", c.initial_pulls, "forced round-robin pulls of each action", at_least(0))
      .merge(fields(c.memory));
}

LinTs::LinTs(const LinTsConfig& config, const AgentSetup& setup)
    : config_(checked(config)),
      setup_(setup),
      posteriors_(config.memory, setup, BayesLinear(config.prior, static_cast<Eigen::Index>(setup.context_size) + 1)) {}

Decision LinTs::choose(const Query& query) const {
  check_query(query, setup_);
  if (const auto forced = forced_pull(events_, config_.initial_pulls, query, setup_.first_actions())) return *forced;
  Stream stream = decision_stream(setup_, query);
  const Eigen::VectorXd x = with_intercept(query.x);
  std::vector<double> values(setup_.actions);
  for (Action a = 0; a < setup_.actions; ++a) values[a] = posteriors_[a].sample(stream).dot(x);
  return {.action = best_action(values, query.actions), .propensity = std::nullopt};
}

bool LinTs::draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const {
  Stream stream = posterior_stream(setup_, draw);
  const Eigen::VectorXd features = with_intercept(x);
  for (Action a = 0; a < setup_.actions; ++a) out[a] = posteriors_[a].sample(stream).dot(features);
  return true;
}

void LinTs::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    posteriors_.learn(event, [](BayesLinear& posterior, ContextView x, double reward) {
      posterior.observe(with_intercept(x), reward);
    });
    ++events_;
  }
}

void LinTs::add_actions(std::size_t n) {
  setup_.add_actions(n);
  posteriors_.add_actions(n);
}

}  // namespace pits
