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
  explicit TableEnvironment(std::vector<Round> rounds) : rounds_(std::move(rounds)) {}

  std::size_t context_size() const override { return rounds_.front().context.size(); }
  std::size_t actions() const override { return rounds_.front().rewards.size(); }
  std::size_t horizon() const override { return rounds_.size(); }
  void draw(std::size_t t, Round& round) const override { round = rounds_.at(t); }

 private:
  std::vector<Round> rounds_;
};

// Plays script[t] in round t and remembers what it was told.
class ScriptedAgent final : public Agent {
 public:
  struct Told {
    std::vector<float> x;
    Action action;
    float reward;
    DecisionId id;
    bool operator==(const Told&) const = default;
  };

  explicit ScriptedAgent(std::vector<Action> script) : script_(std::move(script)) {}

  Decision choose(const Query& query) const override {
    return {.action = script_.at(query.id), .propensity = std::nullopt};
  }
  void learn(std::span<const Feedback> events) override {
    for (const Feedback& e : events) told_.push_back({{e.x.begin(), e.x.end()}, e.action, e.reward, e.id});
  }
  std::unique_ptr<const Policy> snapshot() const override { return std::make_unique<ScriptedAgent>(*this); }

  const std::vector<Told>& told() const { return told_; }

 private:
  std::vector<Action> script_;
  std::vector<Told> told_;
};

}  // namespace pits::test
