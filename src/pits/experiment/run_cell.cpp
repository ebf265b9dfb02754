#include "pits/experiment/run_cell.h"

namespace pits {

Trajectory run_cell(const Plan& plan, const Cell& cell, const RoundsDone& done) {
  const auto environment = plan.make_environment(cell);
  const auto agent = plan.make_agent(cell, *environment);
  try {
    plan.check_like_the_first(cell, *environment);
    const Observers observers = make_observers(plan.diagnostics(), {*agent, *environment, plan.steps()});
    return run_rounds(*agent, *environment, plan.steps(), done, observers, plan.feedback(), plan.config().regret,
                      static_cast<std::size_t>(plan.config().training_delay));
  } catch (const Error& e) {
    throw Error(e.kind(), fmt::format("agent '{}' on '{}', realization {}: {}", plan.agents()[cell.agent],
                                      plan.environments()[cell.environment], cell.realization, e.what()));
  }
}

}  // namespace pits
