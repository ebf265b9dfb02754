#include "pits/cli/execute.h"

#include "pits/cli/terminal.h"
#include "pits/experiment/machine.h"

namespace pits::cli {
namespace {

constexpr std::int64_t most_threads = 4096;

// Takes its line away also when an exception ends the work.
class ShownProgress {
 public:
  explicit ShownProgress(const RoundCount& rounds) : progress_(rounds.all, rounds.done) {}
  ~ShownProgress() { progress_.finish(); }
  ShownProgress(const ShownProgress&) = delete;
  ShownProgress& operator=(const ShownProgress&) = delete;

  void add(std::size_t rounds) { progress_.add(rounds); }

 private:
  Progress progress_;
};

}  // namespace

CLI::Option* add_plan_options(CLI::App& command, PlanOptions& options, const std::string& out) {
  add_whole(command, "--threads", options.threads,
            "threads (default 0: all of the machine); under mpirun, of each rank");
  CLI::Option* place = add_text(command, "--out", options.out, out);
  command.add_flag("--resume", options.resume, "go on with what is in --out, or start it");
  command.add_flag("--json", options.json, "one JSON object per line on stdout instead of tables");
  return place;
}

int checked_threads(const PlanOptions& options) {
  if (options.threads < 0 || options.threads > most_threads) {
    throw bad_input("--threads must be at least 0 (all) and at most {}, not {}", most_threads, options.threads);
  }
  return static_cast<int>(options.threads);
}

std::unique_ptr<RunDirectory> open_directory(const std::filesystem::path& path, bool resume, const Plan& plan,
                                             const std::vector<std::string>& words) {
  const nlohmann::ordered_json origin = {{"command", shell_line(words)}, {"machine", machine_line()}};
  return resume ? RunDirectory::resume(path, plan, origin) : RunDirectory::create(path, plan, origin);
}

void run_plans(Executor& executor, const std::vector<PlannedRun>& runs, int threads) {
  RoundCount rounds;
  for (const auto& [plan, results] : runs) {
    if (results != nullptr) rounds += count_rounds(*plan, *results);
  }
  watch_signals();
  std::optional<ShownProgress> progress;
  if (executor.leads()) progress.emplace(rounds);
  const auto done = [&](std::size_t n) { progress->add(n); };
  for (const auto& [plan, results] : runs) executor.run(*plan, results, threads, stop_flag(), done);
}

void print_reproduction(const Reproduction& r, const std::filesystem::path& directory, bool json) {
  if (json) {
    for (const SectionResult& s : r.sections) {
      for (const SummaryRow& row : s.rows) fmt::print("{}\n", summary_line(*s.plan, row, true).dump());
    }
    return announce("Report", directory / "report.html", json);
  }
  for (const SectionResult& s : r.sections) {
    const TextTable table = s.section.id == "benchmark"   ? regret_comparison(r)
                            : s.section.id == "posterior" ? posterior_table(s)
                                                          : section_table(s, true);
    fmt::print("{}\n\n{}\n", s.section.title, as_text(table));
  }
  for (const MissingData& m : r.missing) fmt::print("Left out {}: {}\n", m.environment, m.reason);
  announce("Report", directory / "report.html", json);
}

}  // namespace pits::cli
