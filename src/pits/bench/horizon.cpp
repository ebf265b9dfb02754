// Long horizons: whether a round after many costs more than one after few.
#include <time.h>

#include "pits/agent/catalogue.h"
#include "pits/bench/cases.h"
#include "pits/data/source/locate.h"
#include "pits/environment/catalogue.h"

namespace pits::bench {
namespace {

constexpr std::size_t horizon = 150'000, window = 10'000, early = 10'000;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// CPU seconds of choose and learn in every window of rounds. Late trainings are thousands of rounds apart, so a window
// has several of them, and its mean is what a round costs.
std::vector<double> window_times(Agent& agent, const Environment& environment) {
  std::vector<double> times(horizon / window, 0.0);
  Round round;
  for (std::size_t t = 0; t < horizon; ++t) {
    environment.draw(t, round);
    const double before = cpu_seconds();
    const Action action = agent.choose({.x = round.context, .id = t}).action;
    const Feedback event{
        .x = round.context, .action = action, .reward = static_cast<float>(round.rewards[action]), .id = t};
    agent.learn({&event, 1});
    times[t / window] += cpu_seconds() - before;
  }
  return times;
}

// The time of a round is that of the last window; the early window is its reference.
void last_rounds(const std::string& spec, benchmark::State& state) {
  if (!locate_data_file(find_data_set("covertype").files.front(), "")) {
    state.SkipWithError("covtype.data is not here; 'pits data fetch covertype' gets it");
    return;
  }
  const auto environment =
      find_recipe(environment_catalogue(), "environment", parse_spec("covertype"))->make({.steps = horizon});
  for (auto _ : state) {
    const auto agent =
        find_recipe(agent_catalogue(), "agent", parse_spec(spec))
            ->make({.context_size = environment->context_size(), .actions = environment->actions(), .seed = 1});
    const std::vector<double> times = window_times(*agent, *environment);
    state.SetIterationTime(times.back() / window);
    state.counters[reference_counter] = times[early / window] / window;
  }
}

}  // namespace

std::vector<Case> horizon_cases() {
  std::vector<Case> cases;
  for (const std::string spec : {"lin-ts", "pi-ts:paper,train_every=200", "pi-ts", "neural-linear:auto"}) {
    cases.push_back({.name = fmt::format("last-of-150000-rounds/{},covertype", spec),
                     .body = [spec](benchmark::State& state) { last_rounds(spec, state); },
                     .timing = Timing::manual,
                     .reference_name = "early rounds",
                     .repetitions = 1,
                     .iterations = 1});
  }
  return cases;
}

}  // namespace pits::bench
