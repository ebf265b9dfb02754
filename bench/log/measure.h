// What the benchmarks of a fleet measure by.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <future>
#include <thread>
#include <vector>

namespace pits {

inline double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of this thread: what others do on the machine changes it little.
inline double processor_seconds_of(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

inline void wait_for(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

// work(writer) on as many threads.
inline void in_parallel(std::size_t writers, const std::function<void(std::size_t)>& work) {
  std::vector<std::future<void>> all;
  for (std::size_t w = 0; w < writers; ++w) all.push_back(std::async(std::launch::async, work, w));
  for (auto& one : all) one.get();
}

}  // namespace pits
