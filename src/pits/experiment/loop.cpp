#include "pits/experiment/loop.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "pits/core/error.h"
#include "pits/experiment/health_probe.h"
#include "pits/experiment/spaced_rounds.h"

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

// CPU time of this thread since it was made.
class Stopwatch {
 public:
  double seconds() const { return thread_cpu_seconds() - start_; }
  // Does something that is not counted.
  template <class Work>
  void without(const Work& work) {
    const double before = thread_cpu_seconds();
    work();
    start_ += thread_cpu_seconds() - before;
  }

 private:
  double start_ = thread_cpu_seconds();
};

// What is learned of a round.
void reveal(const Round& round, DecisionId id, Action played, Revealed feedback, std::vector<Feedback>& events) {
  const bool all = feedback == Revealed::all;
  const auto end = all ? static_cast<Action>(round.rewards.size()) : played + 1;
  events.clear();
  for (Action a = all ? 0 : played; a < end; ++a) {
    events.push_back({.x = round.context, .action = a, .reward = static_cast<float>(round.rewards[a]), .id = id});
  }
}

}  // namespace

const std::vector<std::string>& EnumNames<Revealed>::names() {
  static const std::vector<std::string> names = {"played", "all"};
  return names;
}

std::vector<std::size_t> curve_rounds(std::size_t rounds) {
  const std::size_t points = std::min(rounds, curve_points);
  std::vector<std::size_t> at(points);
  for (std::size_t i = 0; i < points; ++i) at[i] = (i + 1) * rounds / points;
  return at;
}

std::vector<std::size_t> probe_rounds(std::size_t rounds) { return spaced_rounds(rounds, 20, probe_points); }

Trajectory run_rounds(Agent& agent, const Environment& environment, std::size_t steps, const RoundsDone& done,
                      const Observers& observers, Revealed feedback) {
  Trajectory path;
  path.rounds = std::min(steps, environment.horizon());
  path.pulls.resize(environment.actions());
  const std::vector<std::size_t> recorded = curve_rounds(path.rounds);
  const auto& [probe, health] = observers;
  const std::vector<std::size_t> probed = probe == nullptr ? std::vector<std::size_t>{} : probe_rounds(path.rounds);
  Round round;
  std::vector<Feedback> events;
  for (std::size_t t = 0; t < path.rounds; ++t) {
    environment.draw(t, round);
    Stopwatch stopwatch;
    const Decision decision = agent.choose({.x = round.context, .id = t});
    reveal(round, t, decision.action, feedback, events);
    if (health != nullptr) stopwatch.without([&] { health->before_learning(events); });
    agent.learn(events);
    path.seconds += stopwatch.seconds();

    if (health != nullptr) health->after_learning(round.context);
    if (probe != nullptr) {
      for (const Feedback& event : events) probe->observe(event);
      if (t + 1 == probed[path.readings.size()]) path.readings.push_back(probe->measure(agent));
    }

    path.regret += round.best_mean() - round.rewards[decision.action];
    path.uniform_regret += round.best_mean() - round.even_reward();
    ++path.pulls[decision.action];
    if (t + 1 == recorded[path.curve.size()]) path.curve.push_back(path.regret);
    if ((t + 1) % rounds_between_calls == 0) done(rounds_between_calls);
  }
  if (!std::isfinite(path.regret) || !std::isfinite(path.uniform_regret)) {
    throw bad_input("the regret is not finite: the rewards are too large");
  }
  if (health != nullptr) path.health = health->health();
  done(path.rounds % rounds_between_calls);
  return path;
}

}  // namespace pits
