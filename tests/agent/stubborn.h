// An agent whose own decision is known beforehand.
#pragma once

#include "pits/agent/agent.h"

namespace pits::test {

// Likes the last action best, whatever it learns.
class Stubborn : public Cloned<Stubborn> {
 public:
  Stubborn(const Exploration& exploration, const AgentSetup& setup) : Cloned(setup, exploration) {}

 private:
  void values(ContextView, Stream&, std::span<double> out) const override {
    for (Action a = 0; a < out.size(); ++a) out[a] = a;
  }
  bool deterministic() const override { return true; }
  void observe(const Feedback&) override {}
  void state(Archive&) override {}
  void grow(std::size_t) override {}
};

inline const std::vector<float> nowhere = {0.0F};

}  // namespace pits::test
