// What a bandit from an untrusted file must stand: some rounds, probabilities, saving.
#pragma once

#include <stdexcept>

#include "pits/bandit/bandit.h"

namespace pits::test {

// Returns after the first Error, which is an answer. Throws std::logic_error where a decision is none. A bandit of more
// numbers than anybody has is left alone.
inline void exercise(Bandit& bandit) {
  if (bandit.setup().context_size > 1000000 || bandit.setup().actions > 1000000) return;
  const std::vector<float> x(bandit.setup().context_size, 0.5F);
  std::vector<float> p(bandit.setup().actions);
  try {
    for (int t = 0; t < 8; ++t) {
      const Choice choice = bandit.decide(x);
      if (choice.action >= p.size()) throw std::logic_error("an action beyond the last one");
      if (choice.propensity && !(*choice.propensity >= 0.0F && *choice.propensity <= 1.0F)) {
        throw std::logic_error("a propensity that is no probability");
      }
      bandit.learn(choice.id, 0.5F);
    }
    bandit.probabilities(x, p);
    Bandit::from_saved(bandit.saved(), "itself");
  } catch (const Error&) {
  }
}

}  // namespace pits::test
