#include "pits/experiment/paper/paper.h"

#include <algorithm>
#include <array>

namespace pits {
namespace {

struct PaperRow {
  std::string_view agent;
  std::array<PaperRegret, 6> regret;  // in the order of paper_problems()
};

constexpr std::array<PaperRow, 4> table_2 = {{
    {"lin-ts", {{{18.62, 0.02}, {96.71, 0.09}, {59.32, 0.08}, {94.54, 0.28}, {10.48, 0.04}, {13.22, 0.13}}}},
    {"neural-linear", {{{13.96, 0.03}, {97.55, 0.06}, {65.51, 0.07}, {79.15, 0.32}, {17.76, 0.06}, {14.25, 0.12}}}},
    {"vi-ts", {{{23.32, 0.09}, {95.66, 0.08}, {60.99, 0.25}, {64.85, 0.91}, {35.2, 0.31}, {23.32, 0.16}}}},
    {"pi-ts:released", {{{5.37, 0.03}, {90.76, 0.11}, {46.48, 0.10}, {49.85, 0.52}, {8.23, 0.10}, {14.29, 0.07}}}},
}};

}  // namespace

const std::vector<PaperProblem>& paper_problems() {
  static const std::vector<PaperProblem> problems = {
      {"statlog", "Statlog", 16, 7, "the paper adds the 7 classes to the 9 attributes"},
      {"adult", "Adult", 94, 14, ""},
      {"covertype", "Covertype", 54, 7, ""},
      {"census", "Census", 389, 9, "389 in the whole file; levels that a subset lacks have no column"},
      {"financial", "Financial", 21, 8, ""},
      {"mushroom", "Mushroom", 22, 2, "the paper counts the attributes before one-hot encoding"},
  };
  return problems;
}

std::optional<PaperRegret> paper_regret(std::string_view agent, std::string_view environment) {
  const auto row = std::ranges::find(table_2, agent, &PaperRow::agent);
  const auto& problems = paper_problems();
  const auto problem = std::ranges::find(problems, environment, &PaperProblem::environment);
  if (row == table_2.end() || problem == problems.end()) return std::nullopt;
  return row->regret.at(static_cast<std::size_t>(problem - problems.begin()));
}

}  // namespace pits
