// pits report: the table and the page of a run directory, again.
#include <fmt/format.h>

#include <algorithm>

#include "pits/cli/commands.h"
#include "pits/cli/execute.h"
#include "pits/cli/options.h"
#include "pits/cli/terminal.h"
#include "pits/report/run_report.h"

namespace pits::cli {
namespace {

struct ReportOptions {
  std::string directory;
  bool json = false;
};

int report_reproduction(const std::filesystem::path& path, bool json) {
  const Reproduction r = load_reproduction(path);
  write_reproduction(path, r);
  print_reproduction(r, path, json);
  return 0;
}

// It has sections, but no reproduction.json yet.
bool is_interrupted_reproduction(const std::filesystem::path& path) {
  return std::ranges::any_of(paper_sections(), [&](const Section& section) {
    return std::filesystem::exists(path / section.id / "run.json") &&
           read_origin(path / section.id).command.starts_with("pits reproduce ");
  });
}

int report(const ReportOptions& options) {
  const std::filesystem::path path = options.directory;
  if (std::filesystem::exists(path / "reproduction.json")) return report_reproduction(path, options.json);
  if (std::filesystem::is_regular_file(path)) {
    throw bad_input("'{}' is a file: give the directory that holds it", path.string());
  }
  if (is_interrupted_reproduction(path)) {
    throw bad_input("'{}' holds a reproduction that is not finished; the same pits reproduce with --resume finishes it",
                    path.string());
  }
  if (!std::filesystem::exists(path / "run.json")) throw bad_input("'{}' holds no run.json", path.string());
  const Plan plan = read_plan(path);
  const std::vector<SummaryRow> rows = finished_rows(path, plan);
  write_file_atomically(path / "report.html", run_page(plan, rows, read_origin(path)));
  if (options.json) {
    for (const SummaryRow& row : rows) fmt::print("{}\n", summary_line(plan, row, true).dump());
  } else {
    fmt::print("{}Report: {}\n", run_text(plan, rows, colour_on_stdout()),
               std::filesystem::absolute(path / "report.html").string());
  }
  return 0;
}

}  // namespace

std::function<int()> add_report(CLI::App& app) {
  auto* command = app.add_subcommand("report", "Write the page of a run directory again and print its table");
  auto options = std::make_shared<ReportOptions>();
  add_text(*command, "directory", options->directory, "directory of pits run --out or pits reproduce --out")
      ->required();
  command->add_flag("--json", options->json, "one JSON object a line on stdout instead of the table");
  command->footer("Example:\n  pits report runs/linear");
  return [options] { return report(*options); };
}

}  // namespace pits::cli
