// The rounds of an agent on a problem as a log that evaluate/ reads: lines of JSON with the propensities of all
// actions, and with their mean rewards, so that the true value of any policy is known.
#pragma once

#include <filesystem>

#include "pits/core/io/files.h"
#include "pits/experiment/plan.h"

namespace pits {

class RoundLog : public Observer {
 public:
  // Where the agent's probabilities have no closed form they are shares of a thousand simulated decisions and the one
  // that was made.
  RoundLog(const Agent& agent, const std::filesystem::path& file) : agent_(agent), file_(file) {}

  void decided(const Query& query, const Round& round, Action action) override;
  nlohmann::ordered_json finish() override;  // the file is there

 private:
  const Agent& agent_;
  AtomicFile file_;
  std::string text_;
  std::vector<float> p_;
};

// run_cell with such a log.
Trajectory run_logged_cell(const Plan& plan, const Cell& cell, const std::filesystem::path& file,
                           const RoundsDone& done);

}  // namespace pits
