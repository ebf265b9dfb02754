#include "pits/report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pits/experiment/json_words.h"
#include "pits/report/page.h"
#include "pits/version.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

std::string mean_and_error(const Statistics& s) {
  if (std::isnan(s.mean)) return "-";  // uniform play has no regret here either
  return std::isnan(s.se) ? fmt::format("{:.2f}", s.mean) : fmt::format("{:.2f} ± {:.2f}", s.mean, s.se);
}

double microseconds(double seconds, std::size_t rounds) { return 1e6 * seconds / static_cast<double>(rounds); }

// Part of a title where the feedback is not that of a bandit.
std::string under(const Plan& plan) { return plan.feedback() == FeedbackKind::all ? " under full information" : ""; }

std::string number_or_nothing(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

// µs per round, over all environments.
std::string cost(const Plan& plan, const std::vector<SummaryRow>& rows, const std::string& agent) {
  double seconds = 0.0;
  std::size_t rounds = 0;  // a problem may end before T
  for (const SummaryRow& row : rows) {
    if (row.agent != agent) continue;
    seconds += row.seconds;
    rounds += row.curve_rounds.back() * plan.realizations();
  }
  return std::isnan(seconds) ? "-" : fmt::format("{:.1f}", microseconds(seconds, rounds));
}

// What must be known of the problems: those that end before T, and remarks on their data.
void add_remarks(const Plan& plan, const std::vector<SummaryRow>& rows, TextTable& table) {
  const std::vector<std::string> environments = plan.environments(), remarks = plan.remarks();
  for (std::size_t i = 0; i < remarks.size(); ++i) {
    const std::size_t rounds = row_of(rows, plan.agents().front(), environments[i]).curve_rounds.back();
    if (rounds < plan.steps()) table.notes.push_back(fmt::format("{}: ends after {} rounds", environments[i], rounds));
    if (!remarks[i].empty()) table.notes.push_back(fmt::format("{}: {}", environments[i], remarks[i]));
  }
}

}  // namespace

std::string regret_table(const Plan& plan, const std::vector<SummaryRow>& rows, bool colour) {
  const std::vector<std::string> agents = plan.agents();
  TextTable table{.header = {"agent"}, .rows = {}};
  for (const std::string& agent : agents) table.rows.push_back({agent});
  for (const std::string& environment : plan.environments()) {
    double lowest = std::numeric_limits<double>::infinity();
    std::size_t best = 0;
    for (std::size_t i = 0; i < agents.size(); ++i) {
      const Statistics& s = row_of(rows, agents[i], environment).normalized_regret;
      table.rows[i].push_back(mean_and_error(s));
      if (s.mean < lowest) best = i;
      if (s.mean < lowest) lowest = s.mean;
    }
    if (colour) table.bold.emplace_back(best, table.header.size());
    table.header.push_back(environment);
  }
  table.header.push_back("µs/round");
  for (std::size_t i = 0; i < agents.size(); ++i) table.rows[i].push_back(cost(plan, rows, agents[i]));
  table.notes.push_back(fmt::format(
      "Normalised regret{}, mean ± standard error over {} realization{} of {} rounds, seed {}; uniform play is 100, "
      "lower is better.",
      under(plan), plan.realizations(), plan.realizations() == 1 ? "" : "s", plan.steps(), plan.seed()));
  if (plan.config().regret == RegretOf::means) {
    table.notes.push_back("Regret of means: rewards count by their mean in that context.");
  }
  if (plan.feedback() == FeedbackKind::all) {
    table.notes.push_back("Full information: after every round agents learned the rewards of all actions.");
  }
  add_remarks(plan, rows, table);
  return as_text(table);
}

std::string difference_table(const Plan& plan, const std::vector<SummaryRow>& rows) {
  const std::string& base = plan.config().compare;
  if (base.empty()) return {};
  TextTable table{.header = {fmt::format("minus {}", base)}, .rows = {}};
  for (const std::string& environment : plan.environments()) table.header.push_back(environment);
  for (const std::string& agent : plan.agents()) {
    if (agent == base) continue;
    table.rows.push_back({agent});
    for (const std::string& environment : plan.environments()) {
      table.rows.back().push_back(mean_and_error(row_of(rows, agent, environment).difference.value()));
    }
  }
  table.notes.push_back(fmt::format("Differences of normalised regret to {}, paired over realizations.", base));
  return fmt::format("\n{}", as_text(table));
}

std::string run_text(const Plan& plan, const std::vector<SummaryRow>& rows, bool colour) {
  std::string text = regret_table(plan, rows, colour) + difference_table(plan, rows);
  for (const Diagnostic& diagnostic : plan.diagnostics()) {
    if (diagnostic.text != nullptr) text += diagnostic.text(rows);
  }
  return text;
}

TextTable cost_table(const Plan& plan, const std::vector<SummaryRow>& rows) {
  TextTable table{.header = {"agent", "environment", "cpu_us_per_round", "normalized_regret_mean",
                             "normalized_regret_se", "realizations", "rounds"},
                  .rows = {}};
  for (const SummaryRow& row : rows) {
    const std::size_t rounds = row.curve_rounds.back();
    table.rows.push_back({row.agent, row.environment,
                          number_or_nothing(microseconds(row.seconds, rounds * plan.realizations())),
                          number_or_nothing(row.normalized_regret.mean), number_or_nothing(row.normalized_regret.se),
                          fmt::format("{}", plan.realizations()), fmt::format("{}", rounds)});
  }
  return table;
}

Origin read_origin(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "origin.json";
  constexpr std::string_view remedy = R"(write {"command": "", "machine": ""} into it to go on without them)";
  const Json origin = read_json_file(file, remedy);
  try {
    return {.command = origin.at("command").get<std::string>(), .machine = origin.at("machine").get<std::string>()};
  } catch (const Json::exception& e) {
    throw bad_input("'{}' is damaged: {}; {}", file.string(), in_own_words(e), remedy);
  }
}

Json run_data(const Plan& plan, const std::vector<SummaryRow>& rows) {
  Json data = {{"steps", plan.steps()},    {"realizations", plan.realizations()},
               {"agents", plan.agents()},  {"environments", plan.environments()},
               {"summary", Json::array()}, {"curves", Json::array()},
               {"finals", Json::array()},  {"pulls", Json::array()}};
  for (const SummaryRow& row : rows) {
    const Json who = {{"agent", row.agent}, {"env", row.environment}};
    const auto add = [&](const char* list, Json entry) {
      Json item = who;
      item.update(entry);
      data[list].push_back(std::move(item));
    };
    data["summary"].push_back(summary_line(plan, row, true));
    add("curves", {{"t", row.curve_rounds}, {"mean", row.curve_mean}, {"std", row.curve_std}});
    add("finals", {{"values", row.finals}});
    add("pulls", {{"counts", row.pulls}});
  }
  return data;
}

std::string run_page(const Plan& plan, const std::vector<SummaryRow>& rows, const Origin& origin) {
  Json data = {{"kind", "run"},
               {"title", fmt::format("Regret of {}{}", fmt::join(plan.environments(), ", "), under(plan))},
               {"command", origin.command},
               {"machine", origin.machine},
               {"version", version},
               {"seed", plan.seed()}};
  if (plan.feedback() != FeedbackKind::played) data["feedback"] = format_value(plan.feedback());
  data.update(run_data(plan, rows));
  return render_page(data);
}

void write_outcome(const RunDirectory& directory, const Plan& plan, const std::vector<SummaryRow>& rows) {
  directory.collect();
  std::string lines;
  for (const SummaryRow& row : rows) lines += summary_line(plan, row, false).dump() + "\n";
  write_file_atomically(directory.path() / "summary.jsonl", lines);
  write_file_atomically(directory.path() / "cost.csv", as_csv(cost_table(plan, rows)));
  write_file_atomically(directory.path() / "report.html", run_page(plan, rows, read_origin(directory.path())));
}

}  // namespace pits
