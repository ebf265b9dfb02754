// Posteriors that are sums over observations, one for each action, and how they forget.
#pragma once

#include <vector>

#include "pits/agent/agent.h"
#include "pits/core/fields.h"
#include "pits/posterior/history.h"

namespace pits {

struct MemoryConfig {
  int capacity = 0;       // observations kept; 0 keeps all
  double discount = 1.0;  // of an observation's weight with every one that follows it
};
inline Fields fields(MemoryConfig& c) { return memory_fields(c.capacity, c.discount); }

// A Posterior has discount(factor), which leaves its prior alone, and state(Archive&).
template <class Posterior>
class ActionPosteriors {
 public:
  ActionPosteriors(const MemoryConfig& config, const AgentSetup& setup, const Posterior& prior)
      : config_(checked(config)),
        prior_(prior),
        posteriors_(setup.actions, prior),
        window_(setup.context_size, setup.actions, static_cast<std::size_t>(config.capacity)) {
    if (config.capacity > 0 && config.discount < 1.0) {
      throw bad_input("capacity and discount are two ways to forget; give one of them");
    }
  }

  const Posterior& operator[](Action a) const { return posteriors_[a]; }

  // observe(posterior, x, reward) is what one observation does.
  template <class Observe>
  void learn(const Feedback& event, const Observe& observe) {
    if (config_.discount < 1.0) {
      for (Posterior& posterior : posteriors_) posterior.discount(config_.discount);
    }
    const std::optional<Action> lost = slide(event);
    if (lost) {  // an observation cannot be taken out of a posterior without rounding: the others are put in anew
      posteriors_[*lost] = prior_;
      for (std::size_t i = 0; i < window_.size(); ++i) {
        const Observation o = window_[(window_.seen() + i) % window_.size()];  // oldest first
        if (o.action == *lost) observe(posteriors_[*lost], o.context, o.reward);
      }
    }
    if (lost != event.action) observe(posteriors_[event.action], event.x, event.reward);
  }

  void add_actions(std::size_t n) {
    posteriors_.resize(posteriors_.size() + n, prior_);
    window_.add_actions(n);
  }

  void state(Archive& archive) { archive(posteriors_, window_); }

 private:
  // The action whose oldest observation the event has pushed out.
  std::optional<Action> slide(const Feedback& event) {
    if (config_.capacity == 0) return std::nullopt;
    std::optional<Action> lost;
    if (window_.seen() >= window_.size() && window_.size() == static_cast<std::size_t>(config_.capacity)) {
      lost = window_[window_.seen() % window_.size()].action;
    }
    window_.add({.context = event.x, .action = event.action, .reward = event.reward});
    return lost;
  }

  MemoryConfig config_;
  Posterior prior_;
  std::vector<Posterior> posteriors_;  // (K)
  History window_;                     // empty where everything is kept
};

}  // namespace pits
