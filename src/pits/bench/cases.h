// What is measured. Each file of this room adds its cases; run.cpp hands them to Google Benchmark.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <vector>

namespace pits::bench {

using Body = std::function<void(benchmark::State&)>;

// Networks d-50-50-K for M particles, fitted to batches of 512.
struct Shape {
  std::size_t d, K, M;
  std::size_t ones = 0;  // contexts of so many ones and zeros otherwise; 0: dense normal ones

  std::string name() const;
};
inline constexpr std::size_t hidden = 50, batch_size = 512, history_size = 4096;
const std::vector<Shape>& shapes();

// By the CPU time of the thread, by the clock on the wall, or as the body says by SetIterationTime.
enum class Timing { cpu, wall, manual };

struct Case {
  std::string name;
  Body body;
  double operations = 0.0;  // useful ones in a unit of work; 0: not counted
  double units = 1.0;       // units of work in an iteration of the body
  Timing timing = Timing::cpu;
  Body reference{};  // the same work done otherwise
  std::string reference_name = "plain loop";
  std::string torch{};   // the work as torch_reference.py calls it; empty: PyTorch is no reference
  std::string numpy{};   // the same of numpy_reference.py
  int repetitions = 15;  // a short one each; the best counts
  int iterations = 0;    // in a repetition; 0: as many as fill its time
};

// Counters, in seconds, that a body may set: percentiles of single calls, the largest of all calls of learn, and a
// reference that it has measured itself.
inline constexpr const char* median_counter = "p50";
inline constexpr const char* tail_counter = "p99";
inline constexpr const char* largest_counter = "largest";
inline constexpr const char* reference_counter = "reference";

std::vector<Case> update_cases();
std::vector<Case> decision_cases();
std::vector<Case> feature_cases();
std::vector<Case> round_cases();
std::vector<Case> default_round_cases();
std::vector<Case> thread_cases();
std::vector<Case> loading_cases();
std::vector<Case> horizon_cases();

}  // namespace pits::bench
