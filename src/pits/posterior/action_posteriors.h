// One conjugate posterior per action, with a memory: a discount, or a window.
#pragma once

#include <optional>
#include <vector>

#include "pits/posterior/history.h"

namespace pits {

// A Posterior has discount(factor), which leaves its prior alone, and state(Archive&).
template <class Posterior>
class ActionPosteriors {
 public:
  ActionPosteriors(const Memory& memory, std::size_t context_size, std::size_t actions, const Posterior& prior)
      : memory_(checked(memory)),
        prior_(prior),
        posteriors_(actions, prior),
        window_(context_size, actions, {.capacity = memory.capacity}) {
    if (memory.capacity > 0 && memory.discount < 1.0) {
      throw bad_input("capacity and discount are two ways to forget; give one of them");
    }
  }

  const Posterior& operator[](std::size_t a) const { return posteriors_[a]; }

  // observe(posterior, x, reward) is what one observation does.
  template <class Observe>
  void learn(const Observation& event, const Observe& observe) {
    if (memory_.discount < 1.0) {
      for (Posterior& posterior : posteriors_) posterior.discount(memory_.discount);
    }
    const std::optional<std::uint32_t> lost = slide(event);
    if (lost) {  // taking one observation out would round: the others are put into the prior again
      posteriors_[*lost] = prior_;
      for (std::size_t i = 0; i < window_.size(); ++i) {
        const Observation o = window_[(window_.seen() + i) % window_.size()];  // oldest first
        if (o.action == *lost) observe(posteriors_[*lost], o.context, o.reward);
      }
    }
    if (lost != event.action) observe(posteriors_[event.action], event.context, event.reward);
  }

  void add_actions(std::size_t n) {
    posteriors_.resize(posteriors_.size() + n, prior_);
    window_.add_actions(n);
  }

  void state(Archive& archive) { archive.version("ActionPosteriors", 1)(posteriors_, window_); }

 private:
  // The action whose oldest observation the event has pushed out.
  std::optional<std::uint32_t> slide(const Observation& event) {
    if (memory_.capacity == 0) return std::nullopt;
    std::optional<std::uint32_t> lost;
    if (window_.seen() >= window_.size() && window_.size() == static_cast<std::size_t>(memory_.capacity)) {
      lost = window_[window_.seen() % window_.size()].action;
    }
    window_.add(event);
    return lost;
  }

  Memory memory_;
  Posterior prior_;
  std::vector<Posterior> posteriors_;  // (K)
  History window_;                     // empty where everything is kept
};

}  // namespace pits
