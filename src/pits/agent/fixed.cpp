#include "pits/agent/fixed.h"

#include <numeric>

namespace pits {
namespace {

std::vector<double> probabilities_of(const FixedConfig& config, std::size_t K) {
  std::vector<double> p = checked(config).probabilities;
  if (p.empty() && K > 0) {
    p.assign(K, 0.25 / static_cast<double>(K > 1 ? K - 1 : 1));
    p[0] = 0.75;
  }
  if (p.size() != K) throw bad_input("fixed: {} actions need as many probabilities, not {}", K, p.size());
  if (K > 0 && std::accumulate(p.begin(), p.end(), 0.0) <= 0.0) {
    throw bad_input("fixed: at least one probability must be above 0");
  }
  return p;
}

}  // namespace

Fields fields(FixedConfig& c) {
  return Fields{}.add(
      "probabilities", c.probabilities,
      "of each action, e.g. 0.5x0.3x0.2, divided by their sum; none: 3/4 for the first, 1/4 for the rest", at_least(0));
}

Fixed::Fixed(const FixedConfig& config, const AgentSetup& setup)
    : config_(config), setup_(setup), probabilities_(probabilities_of(config, setup.actions)) {}

std::vector<double> Fixed::weights(const Query& query) const {
  check_query(query, setup_);
  std::vector<double> p(setup_.actions, 0.0);
  for (Action a = 0; a < p.size(); ++a) p[a] = query.actions.admits(a) ? probabilities_[a] : 0.0;
  if (std::accumulate(p.begin(), p.end(), 0.0) > 0.0) return p;
  for (Action a = 0; a < p.size(); ++a) p[a] = query.actions.admits(a) ? 1.0 : 0.0;
  return p;
}

Decision Fixed::choose(const Query& query) const {
  const std::vector<double> p = weights(query);
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  Stream stream = decision_stream(setup_, query);
  skip_to_place(stream, query, 2);
  const auto action = static_cast<Action>(stream.categorical(p));
  return {.action = action,
          .propensity = query.want_propensity ? std::optional(static_cast<float>(p[action] / total)) : std::nullopt};
}

double Fixed::propensities(const Query& query, std::uint32_t, std::span<float> p) const {
  const std::vector<double> w = weights(query);
  check_places(p, setup_.actions);
  const double total = std::accumulate(w.begin(), w.end(), 0.0);
  for (Action a = 0; a < p.size(); ++a) p[a] = static_cast<float>(w[a] / total);
  return 0.0;
}

void Fixed::add_actions(std::size_t n) {
  if (!config_.probabilities.empty()) {
    throw bad_input("fixed: the probabilities are those of {} actions; new ones have none", setup_.actions);
  }
  setup_.add_actions(n);
  probabilities_ = probabilities_of(config_, setup_.actions);
}

void Fixed::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) check_feedback(event, setup_);
}

}  // namespace pits
