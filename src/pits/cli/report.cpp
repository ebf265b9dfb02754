// pits report: prints the table of a run directory and writes its page again.
#include <fmt/format.h>

#include <algorithm>

#include "pits/cli/commands.h"
#include "pits/cli/execute.h"
#include "pits/cli/options.h"
#include "pits/cli/terminal.h"
#include "pits/experiment/paper/reproduction_manifest.h"
#include "pits/report/run_report.h"

namespace pits::cli {
namespace {

struct ReportOptions {
  std::string directory;
  bool json = false;
};

// Writes first, so that what is printed is true, and prints in any case: a run on a read-only medium can be read.
void write_and_print(const std::function<void()>& write, const std::function<void()>& print) {
  std::string unwritten;
  try {
    write();
  } catch (const Error& e) {
    unwritten = e.what();
  }
  print();
  if (!unwritten.empty()) throw failed("the report was not written: {}", unwritten);
}

void report_reproduction(const std::filesystem::path& path, bool json) {
  const Reproduction r = load_reproduction(path);
  write_and_print([&] { write_reproduction(path, r); }, [&] { print_reproduction(r, path, json); });
}

void report_run(const std::filesystem::path& path, bool json) {
  const Plan plan = read_plan(path);
  const std::vector<SummaryRow> rows = finished_rows(path, plan);
  const std::filesystem::path page = path / "report.html";
  const std::string html = run_page(plan, rows, read_origin(path));
  write_and_print([&] { write_file_atomically(page, html); },
                  [&] {
                    if (json) {
                      for (const SummaryRow& row : rows) fmt::print("{}\n", summary_line(plan, row, true).dump());
                    } else {
                      fmt::print("{}", run_text(plan, rows, colour_on_stdout()));
                    }
                  });
  if (!json) fmt::print("Report: {}\n", std::filesystem::absolute(page).string());
}

// It has sections, but no reproduction.json, which is written at the end.
bool is_interrupted_reproduction(const std::filesystem::path& path) {
  return std::ranges::any_of(paper_sections(), [&](const Section& section) {
    return std::filesystem::exists(path / section.id / "run.json") &&
           read_origin(path / section.id).command.starts_with("pits reproduce ");
  });
}

int report(const ReportOptions& options) {
  const std::filesystem::path path = options.directory;
  if (std::filesystem::is_regular_file(path)) {
    throw bad_input("'{}' is a file: give the directory that holds it", path.string());
  }
  if (is_reproduction(path)) {
    report_reproduction(path, options.json);
    return 0;
  }
  if (is_interrupted_reproduction(path)) {
    throw bad_input("'{}' holds a reproduction that is not finished; the same pits reproduce with --resume finishes it",
                    path.string());
  }
  if (!std::filesystem::exists(path / "run.json")) throw bad_input("'{}' holds no run.json", path.string());
  report_run(path, options.json);
  return 0;
}

}  // namespace

std::function<int()> add_report(CLI::App& app) {
  auto* command = app.add_subcommand("report", "Write the page of a run directory again and print its table");
  auto options = std::make_shared<ReportOptions>();
  add_text(*command, "directory", options->directory, "directory of pits run --out or pits reproduce --out")
      ->required();
  command->add_flag("--json", options->json, "one JSON object per line on stdout instead of the table");
  command->footer("Example:\n  pits report runs/linear");
  return [options] { return report(*options); };
}

}  // namespace pits::cli
