// An agent in a product: it numbers its decisions, remembers them until their rewards come, and can be saved at any
// time and go on from the file bit for bit.
//
//   pits::Bandit bandit("pi-ts:released", {.context_size = 9, .actions = 7});
//   const pits::Choice choice = bandit.decide(x);
//   ...
//   bandit.learn(choice.id, reward);
//   bandit.save("shop.pits");
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "pits/agent/catalogue.h"
#include "pits/bandit/pending.h"

namespace pits {

struct BanditConfig {
  int default_after = 0;        // decisions after which a reward that has not come counts as the default; 0: never
  double default_reward = 0.0;  // and what it counts as
};
Fields fields(BanditConfig& config);

struct Choice {
  DecisionId id;
  Action action;
};

// A decision's reward.
struct Outcome {
  DecisionId id;
  float reward;
};

class Bandit {
 public:
  // The agent of a spec, NAME[:PRESET][,field=value...].
  Bandit(std::string_view agent, const AgentSetup& setup, const BanditConfig& config = {});

  // Waits for its reward under the id that it is given.
  Choice decide(ContextView x, const ActionSet& actions = {});

  // The reward of a decision. False where it had one already: the first counts.
  bool learn(DecisionId id, float reward);
  // In this order; how many were learned. Nothing is learned where an id is unknown or a reward is not finite.
  std::size_t learn(std::span<const Outcome> outcomes);
  // A reward of an action that somebody else chose.
  void learn(ContextView x, Action action, float reward);

  const Agent& agent() const { return *agent_; }
  const AgentSetup& setup() const { return setup_; }
  const BanditConfig& config() const { return config_; }
  std::size_t pending() const { return pending_.size(); }  // decisions without a reward
  std::string describe() const;                            // the agent's spec with every field

  // The file is there completely or not at all.
  void save(const std::filesystem::path& path) const;
  static Bandit load(const std::filesystem::path& path);
  // The same without a file; `source` is what errors call it.
  std::string saved() const;
  static Bandit from_saved(std::string_view bytes, std::string_view source);

 private:
  Bandit(Spec spec, const AgentSetup& setup, const BanditConfig& config);
  void settle(DecisionId id, const PendingDecision& decision, float reward);
  void state(Archive& archive);

  Spec spec_;  // the preset and every field spelled out
  AgentSetup setup_;
  BanditConfig config_;
  std::unique_ptr<Agent> agent_;
  PendingDecisions pending_;
};

}  // namespace pits
