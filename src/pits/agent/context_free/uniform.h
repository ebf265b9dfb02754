// Every allowed action with the same probability: the yardstick of normalised regret.
#pragma once

#include "pits/agent/agent.h"

namespace pits {

struct UniformConfig {};
inline Fields fields(UniformConfig&) { return {}; }

class Uniform : public Cloned<Uniform> {
 public:
  Uniform(const UniformConfig&, const AgentSetup& setup) : Cloned(setup) {}

 private:
  Action decide(const Query& query, Stream& stream, ActionProbabilities* exact) const override {
    if (exact != nullptr) {
      const double even = 1.0 / static_cast<double>(query.actions.count(actions()));
      for (Action a = 0; a < actions(); ++a) exact->p[a] = query.actions.admits(a) ? even : 0.0;
      exact->exact = true;
    }
    skip_to_position(stream, query, 1);
    return random_action(stream, query.actions, actions());
  }
  void observe(const Feedback&) override {}
  void state(Archive&) override {}
  void grow(std::size_t) override {}
};

}  // namespace pits
