// A problem and an agent that are written down: every round and every action is given.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "pits/agent/agent.h"
#include "pits/environment/environment.h"

namespace pits::test {

// Round t is rounds[t]; the problem ends after the last.
class TableEnvironment final : public Environment {
 public:
  explicit TableEnvironment(std::vector<Round> rounds, RewardTiming timing = {})
      : rounds_(std::move(rounds)), timing_(timing) {}

  std::size_t context_size() const override { return rounds_.front().context.size(); }
  std::size_t actions() const override { return rounds_.front().rewards.size(); }
  std::size_t horizon() const override { return rounds_.size(); }
  RewardTiming timing() const override { return timing_; }
  void draw(std::size_t t, Round& round) const override { round = rounds_.at(t); }

 private:
  std::vector<Round> rounds_;
  RewardTiming timing_;
};

// Plays script[t] in round t and remembers what it was told.
class ScriptedAgent final : public Cloned<ScriptedAgent> {
 public:
  struct Told {
    std::vector<float> x;
    Action action;
    float reward;
    DecisionId id;
    bool operator==(const Told&) const = default;
  };

  explicit ScriptedAgent(std::vector<Action> script, std::size_t d = 2, std::size_t K = 4)
      : Cloned(AgentSetup{.context_size = d, .actions = K}), script_(std::move(script)) {}

  const std::vector<Told>& told() const { return told_; }

 private:
  Action decide(const Query& query, Stream&, ActionProbabilities*) const override { return script_.at(query.id); }
  void observe(const Feedback& e) override { told_.push_back({{e.x.begin(), e.x.end()}, e.action, e.reward, e.id}); }
  void state(Archive&) override {}

  std::vector<Action> script_;
  std::vector<Told> told_;
};

}  // namespace pits::test
