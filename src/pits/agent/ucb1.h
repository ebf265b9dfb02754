// UCB1 (Auer et al. 2002): the action of highest mean reward + range · √(2 ln t / n_a). Contexts do not matter.
#pragma once

#include "pits/agent/agent.h"
#include "pits/core/fields.h"

namespace pits {

struct Ucb1Config {
  double range = 1.0;     // width of the interval that rewards lie in
  int initial_pulls = 2;  // forced pulls of each action
};
Fields fields(Ucb1Config& config);

class Ucb1 : public Agent {
 public:
  Ucb1(const Ucb1Config& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  void learn(std::span<const Feedback> events) override;
  std::unique_ptr<const Policy> snapshot() const override { return std::make_unique<Ucb1>(*this); }
  void state(Archive& archive) override { archive(total_, pulls_, events_); }
  void add_actions(std::size_t n) override {
    setup_.add_actions(n);
    total_.resize(setup_.actions);
    pulls_.resize(setup_.actions);
  }

  double bound(Action a) const;  // infinite before the first pull

 private:
  Ucb1Config config_;
  AgentSetup setup_;
  std::vector<double> total_;  // (K) sum of rewards
  std::vector<double> pulls_;  // (K)
  std::uint64_t events_ = 0;
};

}  // namespace pits
