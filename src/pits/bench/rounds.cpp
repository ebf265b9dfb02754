// Whole rounds, choose and learn, trainings included, of agents as a user would name them; two cells on two threads.
#include "pits/agent/catalogue.h"
#include "pits/bench/cases.h"
#include "pits/bench/problem.h"
#include "pits/core/parallel.h"
#include "pits/experiment/ranks/executor.h"
#include "pits/experiment/results.h"

namespace pits::bench {
namespace {

using State = benchmark::State;

constexpr Shape covertype_like = {54, 7, 20};
constexpr std::size_t rounds_before = 1000;
constexpr std::size_t rounds_an_iteration = 50;  // a multiple of every agent's time between trainings

void rounds(const std::string& spec, State& state) {
  const Shape& s = covertype_like;
  const auto agent = find_recipe(agent_catalogue(), "agent", parse_spec(spec))
                         ->make({.context_size = s.d, .actions = s.K, .seed = 1, .realization = 0});
  const Matrix<float> x = contexts_of(s, history_size);
  Stream noise({.seed = 2, .purpose = Purpose::target_sample});
  std::size_t t = 0;
  const auto play = [&] {
    const std::span<const float> context = x.row(t % history_size);
    const Action action = agent->choose({.x = context, .id = t}).action;
    const Feedback event{.x = context, .action = action, .reward = context[action] + noise.uniform_float(), .id = t};
    agent->learn({&event, 1});
    ++t;
  };
  while (t < rounds_before) play();
  for (auto _ : state) {
    for (std::size_t i = 0; i < rounds_an_iteration; ++i) play();
  }
}

void two_cells(int threads, State& state) {
  const Plan plan({.agents = {"pi-ts:released"}, .environments = {"linear"}, .steps = 200, .realizations = 2});
  const std::atomic<bool> stop = false;
  for (auto _ : state) {
    MemoryResults results(plan);
    run_cells(plan, results, threads, stop, [](std::size_t) {});
  }
}

// The particles of one run over threads.
void spread_update(int threads, State& state) {
  const InnerThreads inner(threads);
  Posterior posterior = taught_posterior(covertype_like);
  posterior.train(1);
  for (auto _ : state) posterior.train(1);
}

}  // namespace

std::vector<Case> round_cases() {
  std::vector<Case> cases;
  for (const std::string spec : {"pi-ts:released", "pi-ts:paper", "lin-ts", "neural-linear:showdown"}) {
    cases.push_back({.name = fmt::format("round/{},d=54,K=7", spec),
                     .body = [spec](State& state) { rounds(spec, state); },
                     .units = rounds_an_iteration,
                     .repetitions = 5});
  }
  return cases;
}

std::vector<Case> thread_cases() {
  const auto compared = [](const std::string& name, void (*body)(int, State&)) {
    return Case{.name = name,
                .body = [body](State& state) { body(2, state); },
                .timing = Timing::wall,
                .reference = [body](State& state) { body(1, state); },
                .reference_name = "one thread",
                .repetitions = 8};
  };
  return {compared("two-cells/2-threads", two_cells),
          compared("update-spread/2-threads," + covertype_like.name(), spread_update)};
}

}  // namespace pits::bench
