#include "pits/agent/lin_ts.h"

#include <algorithm>

namespace pits {

void with_intercept(ContextView x, Eigen::VectorXd& out) {
  out.resize(static_cast<Eigen::Index>(x.size()) + 1);
  std::ranges::copy(x, out.begin());
  out[out.size() - 1] = 1.0;
}

Eigen::VectorXd with_intercept(ContextView x) {
  Eigen::VectorXd row;
  with_intercept(x, row);
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
  thread_local std::vector<double> values;
  values.resize(setup_.actions);
  draw(query.x, stream, values);
  return {.action = best_action(values, query.actions), .propensity = std::nullopt};
}

void LinTs::draw(ContextView x, Stream& stream, std::span<double> out) const {
  thread_local Eigen::VectorXd features, beta;
  with_intercept(x, features);
  for (Action a = 0; a < setup_.actions; ++a) {
    posteriors_[a].sample(stream, beta);
    out[a] = beta.dot(features);
  }
}

bool LinTs::draw_rewards(ContextView x, std::uint32_t number, std::span<double> out) const {
  Stream stream = posterior_stream(setup_, number);
  draw(x, stream, out);
  return true;
}

void LinTs::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    posteriors_.learn(event, [](BayesLinear& posterior, ContextView context, double reward) {
      thread_local Eigen::VectorXd x;
      with_intercept(context, x);
      posterior.observe(x, reward);
    });
    ++events_;
  }
}

void LinTs::add_actions(std::size_t n) {
  setup_.add_actions(n);
  posteriors_.add_actions(n);
}

}  // namespace pits
