// The two verbs of a bandit: choose and learn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pits/core/archive.h"
#include "pits/core/matrix.h"
#include "pits/core/random.h"

namespace pits {

using Action = std::uint32_t;      // 0..K−1
using DecisionId = std::uint64_t;  // the address of a decision's random draws, given by the caller
using ContextView = std::span<const float>;

// The actions a decision may take: all K unless a mask says otherwise.
struct ActionSet {
  std::span<const std::uint8_t> allowed{};  // (K) non-zero: allowed; empty: all
  ConstMatrixView<float> features{};        // (K, features): what an agent that scores actions by features sees

  bool admits(Action a) const { return allowed.empty() || allowed[a] != 0; }
  std::size_t count(std::size_t K) const;
};

struct Query {
  ContextView x;
  ActionSet actions{};
  DecisionId id = 0;
  bool want_propensity = false;
  std::uint32_t place = 0;     // in a ranking, whose earlier places are masked
  std::uint32_t imagined = 0;  // 0: the decision itself; else another draw of it, of which nothing comes
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
  std::span<const float> z{};  // the action's features, for agents that score actions by them
};

// What may be asked from any thread.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual Decision choose(const Query& query) const = 0;
  // Throws where choose would refuse the query for more than check_query sees.
  virtual void check(const Query&) const {}
  // Fills p, (K), with the probability of every action. Returns the largest standard error among them: 0 where they are
  // exact; else they are the shares of as many imagined decisions as `draws` says.
  virtual double propensities(const Query& query, std::uint32_t draws, std::span<float> p) const;
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
  // K grows by n: the new actions start from the prior, what is known of the others stays. Throws where the agent has
  // no place for them.
  virtual void add_actions(std::size_t n);
};

struct AgentSetup {
  std::size_t context_size;  // d
  std::size_t actions;       // K
  std::uint64_t seed = 0;
  std::uint32_t realization = 0;
  std::size_t later_actions = 0;  // those of the K that came during the run: nobody forces their pulls

  void add_actions(std::size_t n) {
    actions += n;
    later_actions += n;
  }
  std::size_t first_actions() const { return actions - later_actions; }
};

// The stream of a decision's draws; imagined ones have streams of their own.
Stream decision_stream(const AgentSetup& setup, const Query& query);
// A stream of the same address for another purpose.
Stream decision_stream(const AgentSetup& setup, DecisionId id, Purpose purpose);

// The stream of a posterior draw that decides nothing.
Stream posterior_stream(const AgentSetup& setup, std::uint32_t draw);

// The allowed action of highest value; ties go to the lowest index.
Action best_action(std::span<const float> values, const ActionSet& actions);
Action best_action(std::span<const double> values, const ActionSet& actions);

// One of the allowed actions, each equally likely.
Action random_action(Stream& stream, const ActionSet& actions, std::size_t K);

// The stream where the draws of the query's place in a ranking begin, `words` for each place.
void skip_to_place(Stream& stream, const Query& query, std::uint32_t words);

// The best action, the next best by the same draws, and so on: k of them, or as many as are allowed.
std::vector<Action> ranking(const Policy& policy, const Query& query, std::size_t k, std::size_t K);

// Round-robin pulls before an agent decides by itself: `pulls` of each of the first K actions, propensity 1. None once
// they are done, or where the action whose turn it is is not allowed.
std::optional<Decision> forced_pull(std::uint64_t events, int pulls, const Query& query, std::size_t K);

// A decision that no draw went into: propensity 1.
Decision certain(Action action, const Query& query);

// Throws unless the query or the event fits the setup: size of x, finite numbers, action in range, a mask of K with
// at least one allowed.
void check_query(const Query& query, const AgentSetup& setup);
void check_feedback(const Feedback& event, const AgentSetup& setup);
// Throws unless there is a place for the probability of each of K actions.
void check_places(std::span<const float> p, std::size_t K);

}  // namespace pits
