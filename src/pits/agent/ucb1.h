// UCB1 (Auer et al. 2002): the action of highest mean reward + range · √(2 ln t / n_a). Contexts do not matter. With a
// discount or a window, t and n_a are the weights of what is remembered (Garivier and Moulines 2011).
#pragma once

#include "pits/agent/memory.h"

namespace pits {

struct Ucb1Config {
  double range = 1.0;     // width of the interval that rewards lie in
  int initial_pulls = 2;  // forced pulls of each action
  MemoryConfig memory{};
};
Fields fields(Ucb1Config& config);

class Ucb1 : public Agent {
 public:
  Ucb1(const Ucb1Config& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  void learn(std::span<const Feedback> events) override;
  std::unique_ptr<const Policy> snapshot() const override { return std::make_unique<Ucb1>(*this); }
  void state(Archive& archive) override { archive(tallies_, events_); }
  void add_actions(std::size_t n) override {
    setup_.add_actions(n);
    tallies_.add_actions(n);
  }

  double bound(Action a) const { return bound(a, remembered()); }  // infinite before the first pull

 private:
  struct Tally {
    double total = 0.0;  // of rewards
    double pulls = 0.0;

    void discount(double factor) {
      total *= factor;
      pulls *= factor;
    }
    void state(Archive& archive) { archive(total, pulls); }
  };
  double remembered() const;  // t: Σ pulls
  double bound(Action a, double t) const;

  Ucb1Config config_;
  AgentSetup setup_;
  ActionPosteriors<Tally> tallies_;
  std::uint64_t events_ = 0;
};

}  // namespace pits
