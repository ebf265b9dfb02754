// What the paper printed: its Table 1 (problems) and Table 2 (normalised regret at T = 2000, 50 realizations).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pits {

struct PaperProblem {
  std::string environment;
  std::string label;
  int contexts;
  int actions;
  std::string note;  // why our figure differs from the paper's; empty where it does not
};
// In the order of Table 2.
const std::vector<PaperProblem>& paper_problems();

inline constexpr std::size_t paper_rounds = 2000;

struct PaperRegret {
  double mean;
  double spread;  // the figure after ±; the paper does not say what it is
};
// Table 2, by the specs of our agents and environments; none where the paper has no such cell.
std::optional<PaperRegret> paper_regret(std::string_view agent, std::string_view environment);

}  // namespace pits
