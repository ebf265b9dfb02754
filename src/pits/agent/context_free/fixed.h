// Actions with fixed probabilities, whatever the context.
#pragma once

#include <numeric>

#include "pits/agent/agent.h"

namespace pits {

struct FixedConfig {
  // Of each action; they are divided by their sum. None: ¾ for the first action and ¼ shared by the others, as in the
  // showdown's example for two actions.
  std::vector<double> probabilities{};
};
inline Fields fields(FixedConfig& c) {
  return Fields{}.add(
      "probabilities", c.probabilities,
      "of each action, e.g. 0.5x0.3x0.2, divided by their sum; none: 3/4 for the first, 1/4 for the rest", at_least(0));
}

// A mask leaves the allowed actions' probabilities in proportion; where they are all 0 the allowed are equally likely.
class Fixed : public Cloned<Fixed> {
 public:
  Fixed(const FixedConfig& config, const AgentSetup& setup)
      : Cloned(setup), config_(config), probabilities_(probabilities_of(setup.actions)) {}

 private:
  std::vector<double> probabilities_of(std::size_t K) const {
    std::vector<double> p = checked(config_).probabilities;
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

  Action decide(const Query& query, Stream& stream, ActionProbabilities* exact) const override {
    std::vector<double> p(actions(), 0.0);
    for (Action a = 0; a < p.size(); ++a) p[a] = query.actions.admits(a) ? probabilities_[a] : 0.0;
    double total = std::accumulate(p.begin(), p.end(), 0.0);
    if (total == 0.0) {
      for (Action a = 0; a < p.size(); ++a) total += p[a] = query.actions.admits(a) ? 1.0 : 0.0;
    }
    if (exact != nullptr) {
      for (Action a = 0; a < p.size(); ++a) exact->p[a] = p[a] / total;
      exact->exact = true;
    }
    skip_to_position(stream, query, 2);
    return static_cast<Action>(stream.categorical(p));
  }
  void observe(const Feedback&) override {}
  void state(Archive&) override {}
  void grow(std::size_t n) override {
    if (!config_.probabilities.empty()) {
      throw bad_input("fixed: the probabilities are those of {} actions; new ones have none", actions());
    }
    probabilities_ = probabilities_of(actions() + n);
  }

  FixedConfig config_;
  std::vector<double> probabilities_;  // (K)
};

}  // namespace pits
