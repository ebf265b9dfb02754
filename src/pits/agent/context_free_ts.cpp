#include "pits/agent/context_free_ts.h"

namespace pits {

Fields fields(BernoulliTsConfig& c) {
  return Fields{}
      .add("alpha", c.alpha, "prior successes of each action", above(0))
      .add("beta", c.beta, "prior failures of each action", above(0))
      .merge(fields(c.memory));
}

Fields fields(GaussianTsConfig& c) { return Fields{}.merge(fields(c.prior)).merge(fields(c.memory)); }

BernoulliTs::BernoulliTs(const BernoulliTsConfig& config, const AgentSetup& setup)
    : setup_(setup),
      counts_(checked(config).memory, setup, Counts{config.alpha, config.beta, config.alpha, config.beta}) {}

Decision BernoulliTs::choose(const Query& query) const {
  check_query(query, setup_);
  Stream stream = decision_stream(setup_, query);
  std::vector<double> drawn(setup_.actions);
  for (Action a = 0; a < setup_.actions; ++a) drawn[a] = stream.beta(counts_[a].successes, counts_[a].failures);
  return {.action = best_action(drawn, query.actions), .propensity = std::nullopt};
}

void BernoulliTs::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    const double r = event.reward;
    if (r < 0.0 || r > 1.0) throw bad_input("bernoulli-ts needs rewards in 0..1, not {}; try gaussian-ts", r);
    counts_.learn(event, [](Counts& counts, ContextView, double reward) {
      counts.successes += reward;
      counts.failures += 1.0 - reward;
    });
  }
}

GaussianTs::GaussianTs(const GaussianTsConfig& config, const AgentSetup& setup)
    : setup_(setup), posteriors_(config.memory, setup, BayesLinear(config.prior, 1)) {}

Decision GaussianTs::choose(const Query& query) const {
  check_query(query, setup_);
  Stream stream = decision_stream(setup_, query);
  std::vector<double> drawn(setup_.actions);
  for (Action a = 0; a < setup_.actions; ++a) drawn[a] = posteriors_[a].sample(stream)[0];
  return {.action = best_action(drawn, query.actions), .propensity = std::nullopt};
}

void GaussianTs::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    posteriors_.learn(event, [](BayesLinear& posterior, ContextView, double reward) {
      posterior.observe(Eigen::VectorXd::Ones(1), reward);
    });
  }
}

}  // namespace pits
