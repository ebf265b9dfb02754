// What the commands that run plans share: options, progress, output.
#pragma once

#include <cstdint>

#include "pits/cli/options.h"
#include "pits/experiment/ranks/executor.h"
#include "pits/report/reproduction_report.h"

namespace pits::cli {

// Their options beside the fields of the experiment.
struct PlanOptions {
  FieldOptions fields{};
  std::string out{};
  std::int64_t threads = 0;
  bool resume = false;
  bool json = false;
};
// --threads, --out, --resume and --json; gives back --out.
CLI::Option* add_plan_options(CLI::App& command, PlanOptions& options, const std::string& out);

// Throws where --threads is out of range; 0 is all of the machine.
int checked_threads(const PlanOptions& options);

// A run directory as --out and --resume ask for it.
std::unique_ptr<RunDirectory> open_directory(const std::filesystem::path& path, bool resume, const Plan& plan,
                                             const std::vector<std::string>& words);

struct PlannedRun {
  const Plan* plan;
  Results* results;  // null on ranks that do not lead
};
// One after another, with one progress bar for all. Ctrl-C is an Interrupted.
void run_plans(Executor& executor, const std::vector<PlannedRun>& runs, int threads);

// Tables, what was left out, and where the page is; or one JSON object per line.
void print_reproduction(const Reproduction& r, const std::filesystem::path& directory, bool json);

}  // namespace pits::cli
