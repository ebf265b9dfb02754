// Hands the cases that were asked for to Google Benchmark and puts the references beside them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

#include "pits/bench/bench.h"
#include "pits/bench/cases.h"
#include "pits/bench/references.h"
#include "pits/core/error.h"

namespace pits::bench {
namespace {

constexpr double seconds_a_repetition = 0.05;
constexpr const char* reference_prefix = "reference:";

struct Measured {
  double seconds = 0.0;
  std::optional<double> p50{}, p99{}, largest{}, reference{};
  std::string missing{};
};

// Keeps the best repetition of every benchmark.
class Collector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration) keep(run);
    }
  }
  const std::map<std::string, Measured>& results() const { return results_; }

 private:
  void keep(const Run& run) {
    const std::string& name = run.run_name.function_name;
    Measured now;
    if (run.error_occurred) {
      now.missing = run.error_message;
    } else {
      const bool wall = !run.run_name.time_type.empty();  // real or manual time
      now.seconds = (wall ? run.real_accumulated_time : run.cpu_accumulated_time) / static_cast<double>(run.iterations);
    }
    const auto counter = [&](const char* key) -> std::optional<double> {
      const auto found = run.counters.find(key);
      return found == run.counters.end() ? std::nullopt : std::optional(found->second.value);
    };
    now.p50 = counter(median_counter);
    now.p99 = counter(tail_counter);
    now.largest = counter(largest_counter);
    now.reference = counter(reference_counter);
    const auto [kept, first] = results_.emplace(name, now);
    if (!first && now.p50.value_or(now.seconds) < kept->second.p50.value_or(kept->second.seconds)) kept->second = now;
  }

  std::map<std::string, Measured> results_;
};

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& some : {update_cases, decision_cases, feature_cases, round_cases, default_round_cases, thread_cases,
                           loading_cases, horizon_cases}) {
    std::ranges::move(some(), std::back_inserter(all));
  }
  return all;
}

std::vector<Case> wanted_cases(const std::string& filter) {
  std::regex wanted;
  try {
    wanted = filter;
  } catch (const std::regex_error&) {
    throw bad_usage("--filter: '{}' is not a regular expression", filter);
  }
  std::vector<Case> cases = all_cases();
  std::vector<std::string> names;
  for (const Case& c : cases) names.push_back(c.name);
  std::erase_if(cases, [&](const Case& c) { return !std::regex_search(c.name, wanted); });
  if (cases.empty()) throw bad_usage("--filter: '{}' is found in no name; there are {}", filter, fmt::join(names, " "));
  return cases;
}

void add_to_benchmark(const Case& c, bool quick) {
  const auto add = [&](const std::string& name, const Body& body) {
    auto* added = benchmark::RegisterBenchmark(name.c_str(), body);
    if (c.timing == Timing::manual) added->UseManualTime();
    if (c.timing == Timing::wall) added->UseRealTime();
    if (c.iterations > 0) {
      added->Iterations(c.iterations);
    } else {
      added->MinTime(quick ? 1e-3 : seconds_a_repetition);
    }
    added->Repetitions(quick ? 1 : c.repetitions);
  };
  add(c.name, c.body);
  if (c.reference) add(reference_prefix + c.name, c.reference);
}

std::map<std::string, Measured> measure(const std::vector<Case>& cases, bool quick) {
  benchmark::ClearRegisteredBenchmarks();
  for (const Case& c : cases) add_to_benchmark(c, quick);
  // Repetitions of different cases take turns: a slow moment of the machine meets all of them.
  std::string words[] = {"pits bench", "--benchmark_enable_random_interleaving=true"};
  char* arguments[] = {words[0].data(), words[1].data(), nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector, ".");
  return collector.results();
}

// A script of another library on the work that the cases name by `work_of`.
template <class Times>
ScriptTimes measure_script(const std::vector<Case>& cases, bool quick, std::string Case::*work_of, Times times) {
  std::vector<std::string> work;
  for (const Case& c : cases) {
    if (!(c.*work_of).empty() && std::ranges::find(work, c.*work_of) == work.end()) work.push_back(c.*work_of);
  }
  if (work.empty()) return {};
  return times(work, quick ? 1 : 10, quick ? 1e-3 : seconds_a_repetition);
}

void add_reference(const std::string& name, const std::string& work, const ScriptTimes& times, Row& row) {
  const auto found = times.work.find(work);
  if (found == times.work.end()) return;
  row.references.push_back({name, found->second.p50.value_or(found->second.seconds)});
}

Row row_of(const Case& c, const std::map<std::string, Measured>& measured, const ScriptTimes& torch,
           const ScriptTimes& numpy, const ScriptTimes& tuned_numpy) {
  const Measured& own = measured.at(c.name);
  Row row{.name = c.name,
          .seconds = own.seconds / c.units,
          .p50 = own.p50,
          .p99 = own.p99,
          .largest = own.largest,
          .missing = own.missing};
  if (c.operations > 0.0) row.operations = c.operations;
  if (c.reference) {
    const Measured& other = measured.at(reference_prefix + c.name);
    row.references.push_back({c.reference_name, other.p50.value_or(other.seconds) / c.units});
  }
  if (own.reference) row.references.push_back({c.reference_name, *own.reference / c.units});
  add_reference("PyTorch", c.torch, torch, row);
  add_reference("numpy", c.numpy, numpy, row);
  add_reference("tuned numpy", c.numpy, tuned_numpy, row);
  return row;
}

}  // namespace

Report run(const Options& options) {
  const std::vector<Case> cases = wanted_cases(options.filter);
  const int sgemm_repetitions = options.quick ? 1 : 5;
  const bool counted = std::ranges::any_of(cases, [](const Case& c) { return c.operations > 0.0; });
  Report report;
  if (counted) report.sgemm_flops = sgemm_flops(sgemm_repetitions);
  const auto measured = measure(cases, options.quick);
  const ScriptTimes torch = measure_script(cases, options.quick, &Case::torch, torch_times);
  const ScriptTimes numpy = measure_script(cases, options.quick, &Case::numpy, numpy_times);
  const ScriptTimes tuned_numpy = measure_script(cases, options.quick, &Case::numpy, tuned_numpy_times);
  if (counted) report.sgemm_flops = std::max(report.sgemm_flops, sgemm_flops(sgemm_repetitions));
  report.torch = torch.version;
  report.torch_wanted = std::ranges::any_of(cases, [](const Case& c) { return !c.torch.empty(); });
  report.numpy = numpy.version;
  report.numpy_wanted = std::ranges::any_of(cases, [](const Case& c) { return !c.numpy.empty(); });
  for (const Case& c : cases) report.rows.push_back(row_of(c, measured, torch, numpy, tuned_numpy));
  return report;
}

}  // namespace pits::bench
