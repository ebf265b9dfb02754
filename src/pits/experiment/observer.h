// The interface of what looks at an agent while it plays (experiment/diagnostics/).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "pits/agent/agent.h"
#include "pits/environment/environment.h"

namespace pits {

// Outside the agent's clock; draws nothing from its streams and changes nothing.
class Observer {
 public:
  virtual ~Observer() = default;
  // Called for every decision, before anything is learned after it.
  virtual void decided(const Query&, const Round&, Action) {}
  // Called for every round with the events that the agent learns from it: one, or one per action. All of them have the
  // round's context. Late rewards come when they are learned; of a batch, before_learning is called for all of its
  // rounds, then the agent learns them, then after_learning is called for all.
  virtual void before_learning(std::span<const Feedback>) {}
  virtual void after_learning(std::span<const Feedback>) {}
  // Called once, after the last round: an object whose fields become fields of the cell.
  virtual nlohmann::ordered_json finish() = 0;
};

using Observers = std::vector<std::unique_ptr<Observer>>;

}  // namespace pits
