#include "pits/cli/execute.h"

#include "pits/core/error.h"

namespace pits::cli {
namespace {

constexpr std::int64_t most_threads = 4096;

}  // namespace

int checked_threads(std::int64_t threads) {
  if (threads < 0 || threads > most_threads) {
    throw bad_input("--threads must be at least 0 (all) and at most {}, not {}", most_threads, threads);
  }
  return static_cast<int>(threads);
}

std::size_t all_rounds(const Plan& plan) {
  std::size_t rounds = 0;
  for (std::size_t i = 0; i < plan.cells(); ++i) rounds += plan.rounds(plan.cell(i));
  return rounds;
}

std::size_t finished_rounds(const Plan& plan, const Results& results) {
  std::size_t rounds = 0;
  for (std::size_t i = 0; i < plan.cells(); ++i) rounds += results.has(i) ? plan.rounds(plan.cell(i)) : 0;
  return rounds;
}

void print_reproduction(const Reproduction& r, const std::filesystem::path& directory, bool json) {
  const std::string page = std::filesystem::absolute(directory / "report.html").string();
  if (json) {
    for (const SectionResult& s : r.sections) {
      for (const SummaryRow& row : s.rows) fmt::print("{}\n", summary_line(*s.plan, row, true).dump());
    }
    fmt::print(stderr, "Report: {}\n", page);
    return;
  }
  for (const SectionResult& s : r.sections) {
    const TextTable table = s.section.id == "benchmark"   ? regret_comparison(r)
                            : s.section.id == "posterior" ? posterior_table(s)
                                                          : section_table(s, true);
    fmt::print("{}\n\n{}\n", s.section.title, as_text(table));
  }
  for (const MissingData& m : r.missing) fmt::print("Left out {}: {}\n", m.environment, m.reason);
  fmt::print("Report: {}\n", page);
}

}  // namespace pits::cli
