// An agent decides and learns. A decision is the same for all agents up to its last step: check the query, leave a
// share of decisions to chance (the floor), force a pull while actions are new, else `decide`. An agent adds its own
// idea: decide (or values, of which the best is played), observe, state.
#pragma once

#include <memory>
#include <vector>

#include "pits/agent/best_probabilities.h"
#include "pits/agent/forced_pulls.h"
#include "pits/core/fields.h"
#include "pits/core/random.h"

namespace pits {

struct AgentSetup {
  std::size_t context_size;  // d
  std::size_t actions;       // K; 0: candidates come with each decision
  std::uint64_t seed = 0;
  std::uint32_t realization = 0;
  std::size_t later_actions = 0;  // those of the K that came during the run; the round-robin has no turn for them
  double floor = 0.0;             // the least share of decisions made uniformly, whatever the agent's own is

  void add_actions(std::size_t n) {
    actions += n;
    later_actions += n;
  }
  std::size_t first_actions() const { return actions - later_actions; }
};

// Exploration that every agent can use besides its own rule.
struct Exploration {
  int initial_pulls = 2;  // n: forced pulls of each action
  ColdStart cold_start = ColdStart::round_robin;
  double floor = 0.0;        // ε: this share of decisions is made uniformly, so no allowed action has less than ε/K
  double floor_decay = 0.0;  // ε = floor/(1 + floor_decay·t) after t rewards
};
Fields fields(Exploration& config);

// The exact probability of every action, (K), where it was asked for and can be computed without simulated decisions.
struct ActionProbabilities {
  std::vector<double> p;
  bool exact = false;
  double tolerance = 0.0;  // largest error, where they are integrals
  Action drawn = 0;        // by the agent's own decision

  void set_uniform(std::span<const Action> actions);  // the others: 0
  void set_certain(Action action) { set_uniform({&action, 1}); }
};

class Agent {
 public:
  virtual ~Agent() = default;

  // A function of what was learned and the query, safe on any number of threads.
  Decision choose(const Query& query) const;
  // Fills p, (K), with the probability of every action. Returns the largest error among them: 0 where they are exact,
  // the tolerance of integrals (best_probabilities.h), or the standard error where they are shares of `draws` simulated
  // decisions. Different samples have independent errors. `chosen` gets the action of choose(query): both together cost
  // little more than one. The decision then counts as one more draw, so that no action that it takes seems impossible.
  double propensities(const Query& query, std::uint32_t draws, std::span<float> p, std::uint64_t sample = 0,
                      Action* chosen = nullptr) const;
  // Throws unless the query fits: size of x, finite numbers, a mask of K with at least one allowed, features.
  void check(const Query& query) const;

  // Checks each event, then learns it. A deterministic function of (state, events in order).
  void learn(std::span<const Feedback> events);
  // Throws unless the event fits: size of x, finite numbers, action in range.
  void check(const Feedback& event) const;

  // Whether it scores actions by features. Only such an agent takes candidates.
  virtual bool takes_features() const { return false; }
  // Learning trains in line, when that is due. After train_beside() it does not: whoever teaches the agent asks
  // training_due() and trains a copy, while this one goes on learning (training_beside.h). No part of what is saved.
  void train_beside() { in_line_ = false; }
  virtual bool training_due() const { return false; }
  // One that fails is an Error; the agent is then as before, and the next training is due an interval later.
  virtual void train() {}

  // An independent copy; one that nobody teaches is a snapshot for concurrent readers.
  virtual std::unique_ptr<Agent> clone() const = 0;
  // Becomes a copy of another agent of the same kind, in the memory that it has.
  virtual void assign(const Agent& other) = 0;
  // The mean reward of every action at x, (K), under one draw from what the agent believes: draws 0, 1, ... are
  // independent, or particle after particle, or go evenly over all draws that it holds, by their weights. False where
  // the agent holds no posterior to draw from.
  virtual bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const;
  // The mean of what it believes of every action at x, (K), where that is known without draws; else false.
  virtual bool mean_rewards(ContextView x, std::span<double> out) const;
  // Writes or reads everything that learning changes, and nothing that the config and the setup say.
  void archive(Archive& archive);
  // K grows by n: the new actions start from the prior, what is known of the others stays.
  void add_actions(std::size_t n);

  const AgentSetup& setup() const { return setup_; }
  std::uint64_t events() const { return events_; }  // learned so far

 protected:
  explicit Agent(const AgentSetup& setup, const Exploration& exploration = {.initial_pulls = 0});
  Agent(const Agent&) = default;
  Agent& operator=(const Agent&) = default;

  // One draw of the agent's own decision. Where `exact` is given and the probabilities have a closed form, fills it.
  // By default the best of values().
  virtual Action decide(const Query& query, Stream& stream, ActionProbabilities* exact) const;
  // The value of every action at x, out (K), by draws from the decision's stream.
  virtual void values(ContextView x, Stream& stream, std::span<double> out) const;
  // Whether values() draws nothing, so that the best action has probability 1.
  virtual bool deterministic() const { return false; }
  // The distributions of values(), (K), where they are independent of each other and known; else false.
  virtual bool value_laws(ContextView, std::span<ValueLaw>) const { return false; }
  virtual void observe(const Feedback& event) = 0;
  virtual void state(Archive& archive) = 0;  // what observe changes
  virtual void grow(std::size_t n);          // n more actions; setup() still has the K of before
  virtual void check_features(const Query&) const {}

  std::size_t actions() const { return setup_.actions; }  // K
  bool trains_in_line() const { return in_line_; }

 private:
  double floor(bool forced) const;
  // By chance, or own_decision. What `exact` gets is own_decision's.
  Action choose(const Query& query, std::span<const Action> forced, double floor, ActionProbabilities* exact) const;
  // One of the forced actions if there are any, else decide.
  Action own_decision(const Query& query, std::span<const Action> forced, Stream& stream,
                      ActionProbabilities* exact) const;
  void check_takes_features() const;
  void count(const Feedback& event);

  AgentSetup setup_;
  Exploration exploration_;
  ForcedPulls forced_pulls_;
  std::uint64_t events_ = 0;
  bool in_line_ = true;
};

// Gives an agent its copy: class LinTs : public Cloned<LinTs>.
template <class Self, class Base = Agent>
class Cloned : public Base {
 public:
  using Base::Base;
  std::unique_ptr<Agent> clone() const override { return std::make_unique<Self>(static_cast<const Self&>(*this)); }
  void assign(const Agent& other) override { static_cast<Self&>(*this) = dynamic_cast<const Self&>(other); }
};

// The stream of a decision's draws for a purpose.
Stream decision_stream(const AgentSetup& setup, DecisionId id, Purpose purpose = Purpose::decision);
// The stream of a posterior draw that decides nothing.
Stream posterior_stream(const AgentSetup& setup, std::uint32_t draw);

// The allowed action of highest value; ties go to the lowest index.
Action best_action(std::span<const float> values, const ActionSet& actions);
Action best_action(std::span<const double> values, const ActionSet& actions);

// One of the allowed actions, each equally likely.
Action random_action(Stream& stream, const ActionSet& actions, std::size_t K);

// Advances the stream to the draws of the query's rank position, `words` for each position.
void skip_to_position(Stream& stream, const Query& query, std::uint32_t words);

// The best action, the next best by the same draws, and so on: k of them, or as many as are allowed.
std::vector<Action> ranking(const Agent& agent, const Query& query, std::size_t k);

// Throws unless there is a place for the probability of each of K actions.
void check_size(std::span<const float> p, std::size_t K);

}  // namespace pits
