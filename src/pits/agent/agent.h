// The two verbs of a bandit: choose and learn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pits/core/archive.h"
#include "pits/core/random.h"

namespace pits {

using Action = std::uint32_t;      // 0..K−1
using DecisionId = std::uint64_t;  // the address of a decision's random draws, given by the caller
using ContextView = std::span<const float>;

// The actions a decision may take: all K unless a mask says otherwise.
struct ActionSet {
  std::span<const std::uint8_t> allowed{};  // (K) non-zero: allowed; empty: all

  bool admits(Action a) const { return allowed.empty() || allowed[a] != 0; }
  std::size_t count(std::size_t K) const;
};

struct Query {
  ContextView x;
  ActionSet actions{};
  DecisionId id = 0;
  bool want_propensity = false;
};

struct Decision {
  Action action;
  std::optional<float> propensity;  // none where it was not asked for or no closed form exists
};

struct Feedback {
  ContextView x;
  Action action;
  float reward;
  DecisionId id = 0;
};

// What may be asked from any thread.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual Decision choose(const Query& query) const = 0;
};

// A policy that learns. learn is a deterministic function of (state, events in order).
class Agent : public Policy {
 public:
  virtual void learn(std::span<const Feedback> events) = 0;
  // An immutable copy for concurrent readers.
  virtual std::unique_ptr<const Policy> snapshot() const = 0;
  // The mean reward of every action at x, (K), under one draw from what the agent believes: draws 0, 1, ... are
  // independent ones, or particle after particle. False where the agent holds no posterior to draw from.
  virtual bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const;
  // Everything that learning changes, and nothing that the config and the setup say. A writing archive changes nothing.
  // Throws where the agent has no list of it.
  virtual void state(Archive& archive);
};

struct AgentSetup {
  std::size_t context_size;  // d
  std::size_t actions;       // K
  std::uint64_t seed = 0;
  std::uint32_t realization = 0;
};

// The stream of a decision's draws.
Stream decision_stream(const AgentSetup& setup, DecisionId id);

// The stream of a posterior draw that decides nothing.
Stream posterior_stream(const AgentSetup& setup, std::uint32_t draw);

// The allowed action of highest value; ties go to the lowest index.
Action best_action(std::span<const float> values, const ActionSet& actions);
Action best_action(std::span<const double> values, const ActionSet& actions);

// One of the allowed actions, each equally likely.
Action random_action(Stream& stream, const ActionSet& actions, std::size_t K);

// Round-robin pulls before an agent decides by itself: `pulls` of each action, propensity 1. None once they are done,
// or where the action whose turn it is is not allowed.
std::optional<Decision> forced_pull(std::uint64_t events, int pulls, const Query& query, std::size_t K);

// A decision that no draw went into: propensity 1.
Decision certain(Action action, const Query& query);

// Throws unless the query or the event fits the setup: size of x, finite numbers, action in range, a mask of K with
// at least one allowed.
void check_query(const Query& query, const AgentSetup& setup);
void check_feedback(const Feedback& event, const AgentSetup& setup);

}  // namespace pits
