// Whole rounds of the default, choose and learn: what they cost after many observations, and over a run of 2,000;
// beside the default before it, `pi-ts:exact`.
#include <time.h>

#include <algorithm>
#include <numeric>

#include "pits/agent/catalogue.h"
#include "pits/bench/cases.h"

namespace pits::bench {
namespace {

using State = benchmark::State;

constexpr std::size_t short_run = 2000;
constexpr std::size_t events_a_call = 1000;  // of the history

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Normal contexts; action a pays x_a plus noise, counted around the context.
class Rounds {
 public:
  Rounds(std::size_t d, std::size_t K) : x_(d), K_(K) {}

  std::span<const float> next() {
    stream_.fill_normal(x_);
    return x_;
  }
  float reward(Action a) { return x_[a % x_.size()] + 0.5F * static_cast<float>(stream_.normal()); }
  Action any_action() { return stream_.index(static_cast<std::uint32_t>(K_)); }

 private:
  std::vector<float> x_;
  std::size_t K_;
  Stream stream_{Address{.seed = 3, .purpose = Purpose::target_sample}};
};

// n events of actions drawn uniformly, a thousand in a call.
void learn_history(Agent& agent, Rounds& rounds, std::size_t n) {
  const std::size_t d = agent.setup().context_size;
  std::vector<float> contexts(events_a_call * d);
  std::vector<Feedback> events;
  for (std::size_t t = 0; t < n; ++t) {
    float* x = contexts.data() + events.size() * d;
    std::ranges::copy(rounds.next(), x);
    const Action action = rounds.any_action();
    events.push_back({.x = {x, d}, .action = action, .reward = rounds.reward(action), .id = t});
    if (events.size() < events_a_call && t + 1 < n) continue;
    agent.learn(events);
    events.clear();
  }
}

// CPU time of `window` rounds after n observations: the mean and the 99th percentile of a round, the longest learn.
void measure(const char* spec, std::size_t d, std::size_t K, std::size_t n, std::size_t window, State& state) {
  for (auto _ : state) {
    const auto agent = find_recipe(agent_catalogue(), "agent", parse_spec(spec))
                           ->make({.context_size = d, .actions = K, .seed = 1, .realization = 0});
    Rounds rounds(d, K);
    learn_history(*agent, rounds, n);
    std::vector<double> times;
    double longest = 0.0;
    for (std::size_t t = n; t < n + window; ++t) {
      const std::span<const float> x = rounds.next();
      const double start = cpu_seconds();
      const Action action = agent->choose({.x = x, .id = t}).action;
      const double chosen = cpu_seconds();
      const Feedback event{.x = x, .action = action, .reward = rounds.reward(action), .id = t};
      const double before = cpu_seconds();
      agent->learn({&event, 1});
      const double after = cpu_seconds();
      times.push_back(chosen - start + after - before);
      longest = std::max(longest, after - before);
    }
    state.SetIterationTime(std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(window));
    const auto tail = times.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(window));
    std::ranges::nth_element(times, tail);
    state.counters[tail_counter] = *tail;
    state.counters[largest_counter] = longest;
  }
}

Case case_of(std::string name, const char* spec, std::size_t d, std::size_t K, std::size_t n, std::size_t window) {
  return {.name = std::move(name),
          .body = [=](State& state) { measure(spec, d, K, n, window, state); },
          .timing = Timing::manual,
          .repetitions = 1,
          .iterations = 1};
}

// The default's case and, `before`, that of the default before it.
void add(std::vector<Case>& cases, const std::string& name, std::size_t d, std::size_t K, std::size_t n, bool before) {
  // Late trainings are 2 % of the observations apart: a window of 5 % has two or three.
  const std::size_t window = std::max(n / 20, short_run);
  cases.push_back(case_of(name, "pi-ts", d, K, n, window));
  if (before) cases.push_back(case_of(name + ",exact", "pi-ts:exact", d, K, n, window));
}

}  // namespace

std::vector<Case> default_round_cases() {
  std::vector<Case> cases;
  for (const std::size_t n : {1'000U, 10'000U, 100'000U, 1'000'000U}) {
    add(cases, fmt::format("default-round/d=20,K=12,after={}", n), 20, 12, n, n < 1'000'000);
  }
  add(cases, "default-run/d=9,K=7,T=2000", 9, 7, 0, true);    // as statlog
  add(cases, "default-run/d=54,K=7,T=2000", 54, 7, 0, true);  // as covertype
  add(cases, "default-run/d=20,K=100,T=2000", 20, 100, 0, true);
  return cases;
}

}  // namespace pits::bench
