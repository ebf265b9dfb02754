#include "pits/experiment/round_log.h"

#include <fmt/ranges.h>

namespace pits {
namespace {

constexpr std::uint32_t draws = 1000;
constexpr std::size_t piece = 1U << 20U;

}  // namespace

void RoundLog::decided(const Query& query, const Round& round, Action action) {
  p_.resize(round.rewards.size());
  const double error = agent_.propensities(query, draws, p_);
  if (error > 0.0) {
    for (Action a = 0; a < p_.size(); ++a) {
      p_[a] = static_cast<float>((p_[a] * double{draws} + (a == action ? 1.0 : 0.0)) / (draws + 1.0));
    }
  }
  fmt::format_to(
      std::back_inserter(text_), R"({{"action":{},"reward":{},"propensities":[{}],"context":[{}],"means":[{}])", action,
      round.rewards[action], fmt::join(p_, ","), fmt::join(round.context, ","), fmt::join(round.mean_rewards, ","));
  if (!round.allowed.empty()) {
    fmt::format_to(std::back_inserter(text_), R"(,"allowed":[{}])", fmt::join(round.allowed, ","));
  }
  text_ += "}\n";
  if (text_.size() < piece) return;
  file_.write(text_);
  text_.clear();
}

nlohmann::ordered_json RoundLog::finish() {
  file_.write(text_);
  file_.finish();
  return nlohmann::ordered_json::object();
}

Trajectory run_logged_cell(const Plan& plan, const Cell& cell, const std::filesystem::path& file,
                           const RoundsDone& done) {
  const auto environment = plan.make_environment(cell);
  const auto agent = plan.make_agent(cell, *environment);
  Observers observers = make_observers(plan.diagnostics(), {*agent, *environment, plan.steps()});
  observers.push_back(std::make_unique<RoundLog>(*agent, file));
  return run_rounds(*agent, *environment, plan.steps(), done, observers, plan.feedback(), plan.config().regret);
}

}  // namespace pits
