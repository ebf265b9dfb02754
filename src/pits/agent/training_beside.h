// A training beside the rewards: it moves a copy of an agent, on any thread, while the agent itself goes on learning
// and deciding. What the agent learns in between, the copy learns after its training, in order; then it takes the
// agent's place. The result depends only on where the training began, where it is adopted, and what came in between.
#pragma once

#include <string>
#include <variant>

#include "pits/agent/agent.h"

namespace pits {

class TrainingBeside {
 public:
  // Of an agent that does not train in line.
  explicit TrainingBeside(const Agent& agent) : copy_(agent.clone()) {}

  // Once; finish() does it where nobody has. One that fails moves nothing; problem() says why.
  void train();
  const std::string& problem() const { return problem_; }

  // What the agent has learned since; while train() runs, too.
  void learned(const Feedback& event);
  void added_actions(std::size_t n) { since_.emplace_back(n); }

  // The copy, which has learned all of it. An outcome that it refuses is left out.
  std::unique_ptr<Agent> finish();

 private:
  struct Outcome {
    std::vector<float> x, z;
    Action action;
    float reward;
    DecisionId id;
  };

  std::unique_ptr<Agent> copy_;
  std::vector<std::variant<Outcome, std::size_t>> since_;  // outcomes, and numbers of new actions
  bool trained_ = false;
  std::string problem_;
};

}  // namespace pits
