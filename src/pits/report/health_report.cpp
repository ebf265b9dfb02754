#include "pits/report/health_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "pits/report/text_table.h"

namespace pits {
namespace {

bool has_points(const SummaryRow& row) { return row.health && !row.health->rounds.empty(); }

std::vector<std::string> cells(const SummaryRow& row) {
  const HealthSummary& h = *row.health;
  const auto last = [&](double HealthPoint::*value) { return h.curve(value).mean.back(); };
  const auto percent = [&](double level) { return fmt::format("{:.1f} %", 100.0 * coverage(h.pit, level)); };
  return {row.agent,
          row.environment,
          fmt::format("{}", h.rounds.back()),
          fmt::format("{:.3f}", last(&HealthPoint::disagreement)),
          fmt::format("{:.3g}", last(&HealthPoint::spread)),
          fmt::format("{:.2g}", last(&HealthPoint::repulsion)),
          fmt::format("{:.1f} of {}", last(&HealthPoint::effective), h.particles),
          percent(0.5),
          percent(0.9)};
}

// Labels, each once, in order.
std::vector<std::string> agents_where(const std::vector<SummaryRow>& rows, bool (*holds)(const SummaryRow&)) {
  std::vector<std::string> agents;
  for (const SummaryRow& row : rows) {
    if (holds(row) && std::ranges::find(agents, row.agent) == agents.end()) agents.push_back(row.agent);
  }
  return agents;
}

}  // namespace

std::vector<std::string> collapse_warnings(const std::vector<SummaryRow>& rows) {
  std::vector<std::string> lines;
  for (const SummaryRow& row : rows) {
    if (!row.health || row.health->collapsed == 0) continue;
    lines.push_back(fmt::format(
        "{} on {}: the particles have collapsed in {} of {} realizations, from round {} on; they differ by less than "
        "if "
        "there were one number an action to learn",
        row.agent, row.environment, row.health->collapsed, row.health->realizations, row.health->collapsed_since));
  }
  return lines;
}

std::string health_text(const Plan& plan, const std::vector<SummaryRow>& rows) {
  if (!plan.diagnoses()) return "";
  TextTable table{.header = {"particles of", "problem", "round", "disagreement", "spread", "repulsion/drive",
                             "effective number", "50 % covers", "90 % covers"},
                  .rows = {}};
  for (const SummaryRow& row : rows) {
    if (has_points(row)) table.rows.push_back(cells(row));
  }
  std::string text = "\n";
  if (!table.rows.empty()) {
    text += as_text(table) +
            "\nAfter that round's training, mean over realizations: share of contexts on which two particles disagree; "
            "their spread in standard deviations\nof the reward. Over the run: share of rewards within the central 50 "
            "and 90 % of what was predicted.\n";
  }
  for (const std::string& line : collapse_warnings(rows)) text += "warning: " + line + "\n";
  const auto none = agents_where(rows, [](const SummaryRow& row) { return !row.health; });
  if (!none.empty()) text += fmt::format("No particles to look at: {}\n", fmt::join(none, ", "));
  const auto untrained = agents_where(rows, [](const SummaryRow& row) { return row.health && !has_points(row); });
  if (!untrained.empty()) text += fmt::format("Too few trainings to look at: {}\n", fmt::join(untrained, ", "));
  return text;
}

}  // namespace pits
