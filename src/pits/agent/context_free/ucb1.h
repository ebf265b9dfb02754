// UCB1 (Auer et al. 2002): the action of highest mean reward + range · √(2 ln t / n_a). Contexts do not matter. With a
// discount or a window, t and n_a are the weights of what is remembered (Garivier and Moulines 2011).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "pits/agent/agent.h"
#include "pits/posterior/action_posteriors.h"

namespace pits {

struct Ucb1Config {
  double range = 1.0;  // width of the interval that rewards lie in
  Exploration exploration{};
  Memory memory{};
};
inline Fields fields(Ucb1Config& c) {
  return Fields{}
      .add("range", c.range, "width of the interval that rewards lie in", above(0))
      .merge(fields(c.exploration))
      .merge(fields(c.memory));
}

class Ucb1 : public Cloned<Ucb1> {
 public:
  Ucb1(const Ucb1Config& config, const AgentSetup& setup)
      : Cloned(setup, checked(config).exploration),
        range_(config.range),
        tallies_(config.memory, setup.context_size, setup.actions, Tally{}) {}

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

  double remembered() const {  // t: Σ pulls
    double t = 0.0;
    for (Action a = 0; a < actions(); ++a) t += tallies_[a].pulls;
    return t;
  }

  double bound(Action a, double t) const {
    const auto& [total, pulls] = tallies_[a];
    if (pulls == 0.0) return std::numeric_limits<double>::infinity();
    const double width = std::sqrt(2.0 * std::log(std::max(t, 1.0)) / pulls);
    return total / pulls + range_ * width;
  }

  void values(ContextView, Stream&, std::span<double> out) const override {
    const double t = remembered();
    for (Action a = 0; a < out.size(); ++a) out[a] = bound(a, t);
  }
  bool deterministic() const override { return true; }

  void observe(const Feedback& event) override {
    tallies_.learn(event.observation(), [](Tally& tally, ContextView, double reward) {
      tally.total += reward;
      tally.pulls += 1.0;
    });
  }

  void state(Archive& archive) override { archive.version("Ucb1", 1)(tallies_); }
  void grow(std::size_t n) override { tallies_.add_actions(n); }

  double range_;
  ActionPosteriors<Tally> tallies_;
};

}  // namespace pits
