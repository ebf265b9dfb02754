// Single decisions, timed one by one on the wall clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "pits/bench/cases.h"

namespace pits::bench {

inline constexpr std::size_t singles_kept = 1 << 16;

// Times each call of decide(n) by itself; sets the counters of the percentiles.
template <class Decide>
void time_singles(benchmark::State& state, Decide decide) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> singles;
  singles.reserve(singles_kept);
  std::size_t n = 0;
  for (auto _ : state) {
    const auto before = Clock::now();
    benchmark::DoNotOptimize(decide(n++));
    const double seconds = std::chrono::duration<double>(Clock::now() - before).count();
    state.SetIterationTime(seconds);
    if (singles.size() < singles_kept) singles.push_back(seconds);
  }
  std::ranges::sort(singles);
  const auto at = [&](double share) {
    return singles[static_cast<std::size_t>(share * (static_cast<double>(singles.size()) - 1.0))];
  };
  state.counters[median_counter] = at(0.5);
  state.counters[tail_counter] = at(0.99);
}

}  // namespace pits::bench
