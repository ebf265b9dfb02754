#include "pits/experiment/loop.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "pits/core/error.h"

namespace pits {
namespace {

constexpr std::size_t curve_points = 200;
constexpr std::size_t probe_points = 20;
constexpr std::size_t rounds_between_calls = 50;

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

std::vector<std::size_t> curve_rounds(std::size_t rounds) {
  const std::size_t points = std::min(rounds, curve_points);
  std::vector<std::size_t> at(points);
  for (std::size_t i = 0; i < points; ++i) at[i] = (i + 1) * rounds / points;
  return at;
}

std::vector<std::size_t> probe_rounds(std::size_t rounds) {
  std::vector<std::size_t> at;
  const double first = std::min<double>(20.0, static_cast<double>(rounds));
  for (std::size_t i = 0; i < probe_points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(probe_points - 1);
    const auto t = static_cast<std::size_t>(std::llround(first * std::pow(static_cast<double>(rounds) / first, share)));
    if (at.empty() || t > at.back()) at.push_back(t);
  }
  return at;
}

Trajectory run_rounds(Agent& agent, const Environment& environment, std::size_t steps, const RoundsDone& done,
                      Probe* probe) {
  Trajectory path;
  path.rounds = std::min(steps, environment.horizon());
  path.pulls.resize(environment.actions());
  const std::vector<std::size_t> recorded = curve_rounds(path.rounds);
  const std::vector<std::size_t> probed = probe == nullptr ? std::vector<std::size_t>{} : probe_rounds(path.rounds);
  Round round;
  for (std::size_t t = 0; t < path.rounds; ++t) {
    environment.draw(t, round);
    const double before = thread_cpu_seconds();
    const Decision decision = agent.choose({.x = round.context, .id = t});
    const double reward = round.rewards[decision.action];
    const Feedback event{.x = round.context, .action = decision.action, .reward = static_cast<float>(reward), .id = t};
    agent.learn({&event, 1});
    path.seconds += thread_cpu_seconds() - before;

    if (probe != nullptr) {
      probe->observe(event);
      if (t + 1 == probed[path.readings.size()]) path.readings.push_back(probe->measure(agent));
    }

    path.regret += round.best_mean() - reward;
    path.uniform_regret += round.best_mean() - round.even_reward();
    ++path.pulls[decision.action];
    if (t + 1 == recorded[path.curve.size()]) path.curve.push_back(path.regret);
    if ((t + 1) % rounds_between_calls == 0) done(rounds_between_calls);
  }
  if (!std::isfinite(path.regret) || !std::isfinite(path.uniform_regret)) {
    throw bad_input("the regret is not finite: the rewards are too large");
  }
  done(path.rounds % rounds_between_calls);
  return path;
}

}  // namespace pits
