// An agent with its decisions, in memory and for one thread: it numbers decisions, gives their probabilities, remembers
// them until their rewards come, takes new actions and retires old ones, and can be saved at any time. A loaded bandit
// continues with the same bits. For simulations, notebooks and learning from data; a service that must survive a crash
// uses LiveBandit (log/live_bandit.h), which keeps decisions and rewards in a log instead.
//
//   pits::Bandit bandit("pi-ts:released", {.context_size = 9, .actions = 7});
//   const pits::Choice choice = bandit.decide(x);
//   ...
//   bandit.learn(choice.id, reward);
//   bandit.save("shop.pits");
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pits/agent/catalogue.h"
#include "pits/bandit/pending.h"
#include "pits/bandit/serving_policy.h"

namespace pits {

// A decision's reward.
struct Outcome {
  DecisionId id;
  float reward;
};

// Rounds that another policy played.
struct LoggedRounds {
  ConstMatrixView<float> contexts;        // (n,d)
  std::span<const Action> actions;        // (n)
  std::span<const float> rewards;         // (n)
  std::span<const float> propensities{};  // (n) of the actions, or none
  ConstMatrixView<float> features{};      // (n, features) of the actions, or none
};

class Bandit {
 public:
  // The agent of a spec, NAME[:PRESET][,field=value...].
  Bandit(std::string_view agent, const AgentSetup& setup, const BanditConfig& config = {});

  // A decision, which waits for its reward under Choice::id.
  Choice decide(ContextView x, const ActionSet& actions = {});
  // The best action, the next best by the same draws, and so on: k of them, or as many as are allowed. Each is a
  // decision that waits for a reward of its own; the first has a propensity.
  std::vector<Choice> rank(ContextView x, std::size_t k, const ActionSet& actions = {});
  // Probability of every action in the next decision, p (K). Returns the largest standard error among them, 0 where
  // they are exact. Estimates of different rows, in one state of the bandit, have errors that are independent.
  double probabilities(ContextView x, std::span<float> p, const ActionSet& actions = {}, std::uint64_t row = 0) const;

  // The reward of a decision. False where it had one already: the first counts.
  bool learn(DecisionId id, float reward);
  // In this order; how many were learned. Nothing is learned where an id is unknown or a reward is not finite.
  std::size_t learn(std::span<const Outcome> outcomes);
  // The outcome of a decision that policy() made under an id of the caller's.
  void learn(const Feedback& event);
  // A reward of an action that another policy chose.
  void learn(ContextView x, Action action, float reward, std::span<const float> z = {});
  // Learns logged rounds in order. Where they have propensities, returns what this bandit would have earned per round,
  // each decided by what was known before it: the mean reward weighed by its probability of the action over the logged
  // one (self-normalised importance sampling). Nothing is learned where a round does not fit the setup; a reward that
  // the agent itself refuses ends it there. `learned` is called after every round and may throw to stop there.
  std::optional<double> fit(
      const LoggedRounds& rounds, const std::function<void()>& learned = [] {});

  // Trainings beside the rewards (agent/training_beside.h): learning does not train from now on; what was trained takes
  // the agent's place.
  void train_beside() { serving_.agent->train_beside(); }
  void adopt(std::unique_ptr<Agent> trained) { serving_.agent = std::move(trained); }

  // The first of n new actions, which start from the prior.
  Action add_actions(std::size_t n = 1);
  // No decision takes it from now on; its rewards are still learned.
  void retire(Action action);
  bool retired(Action action) const;

  const Agent& agent() const { return *serving_.agent; }
  const ServingPolicy& policy() const { return serving_; }
  const AgentSetup& setup() const { return agent().setup(); }
  const BanditConfig& config() const { return serving_.config; }
  std::size_t pending() const { return pending_.size(); }  // decisions without a reward
  std::string describe() const;                            // the agent's spec with every field

  // The file is there completely or not at all.
  void save(const std::filesystem::path& path) const;
  static Bandit load(const std::filesystem::path& path);
  // The same without a file; `source` is what errors call it.
  std::string saved() const;
  static Bandit from_saved(std::string_view bytes, std::string_view source);
  // What decisions need, and nothing of what was observed: another process decides by it with the same bits. It can
  // neither learn nor be saved.
  std::string saved_policy() const;
  static ServingPolicy policy_from_saved(std::string_view bytes, std::string_view source);

 private:
  Bandit(Spec spec, const AgentSetup& setup, const BanditConfig& config);
  void apply_defaults();  // to rewards that are overdue
  void apply_reward(DecisionId id, const PendingDecision& decision, float reward);
  void check(const LoggedRounds& rounds) const;
  void state(Archive& archive);
  void write(Archive& archive) const;
  static Bandit read(std::string_view kind, std::string_view bytes, std::string_view source);

  Spec spec_;  // the preset and every field spelled out
  ServingPolicy serving_;
  PendingDecisions pending_;
};

}  // namespace pits
