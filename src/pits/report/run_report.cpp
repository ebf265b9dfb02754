#include "pits/report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pits/experiment/json_words.h"
#include "pits/report/health_report.h"
#include "pits/report/page.h"
#include "pits/version.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

const SummaryRow& row_of(const std::vector<SummaryRow>& rows, const std::string& agent, const std::string& env) {
  return *std::ranges::find_if(rows, [&](const SummaryRow& r) { return r.agent == agent && r.environment == env; });
}

std::string mean_and_error(const Statistics& s) {
  if (std::isnan(s.mean)) return "-";  // uniform play has no regret here either
  return std::isnan(s.se) ? fmt::format("{:.2f}", s.mean) : fmt::format("{:.2f} ± {:.2f}", s.mean, s.se);
}

double microseconds(double seconds, std::size_t rounds) { return 1e6 * seconds / static_cast<double>(rounds); }

// Said where regret is not that of a bandit.
std::string under(const Plan& plan) { return plan.feedback() == Revealed::all ? " under full information" : ""; }

std::string number_or_nothing(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

// µs a round, over all environments.
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

}  // namespace

std::string regret_table(const Plan& plan, const std::vector<SummaryRow>& rows, bool colour) {
  const std::vector<std::string> agents = plan.agents();
  std::size_t label_width = 5;
  for (const std::string& agent : agents) label_width = std::max(label_width, display_width(agent));
  std::string header = fmt::format("{:<{}}", "agent", label_width);
  std::vector<std::string> lines = agents;
  for (std::string& line : lines) line += std::string(label_width - display_width(line), ' ');

  for (const std::string& env : plan.environments()) {
    std::vector<std::string> cells;
    std::vector<double> means;
    for (const std::string& agent : agents) {
      const Statistics& s = row_of(rows, agent, env).normalized_regret;
      cells.push_back(mean_and_error(s));
      means.push_back(std::isnan(s.mean) ? std::numeric_limits<double>::infinity() : s.mean);
    }
    std::size_t column = display_width(env);
    for (const std::string& cell : cells) column = std::max(column, display_width(cell));
    header += "  " + pad_left(env, column);
    const auto best = static_cast<std::size_t>(std::ranges::min_element(means) - means.begin());
    for (std::size_t i = 0; i < agents.size(); ++i) {
      const std::string cell = pad_left(cells[i], column);
      lines[i] += "  " + (colour && i == best ? "\033[1m" + cell + "\033[0m" : cell);
    }
  }
  std::string table = header + "  " + pad_left("µs/round", 9) + "\n";
  for (std::size_t i = 0; i < agents.size(); ++i) {
    table += lines[i] + "  " + pad_left(cost(plan, rows, agents[i]), 9) + "\n";
  }
  table += fmt::format(
      "\nNormalised regret{}, mean ± standard error over {} realization{} of {} rounds, seed {}; "
      "uniform play is 100, lower is better.\n",
      under(plan), plan.realizations(), plan.realizations() == 1 ? "" : "s", plan.steps(), plan.seed());
  if (plan.feedback() == Revealed::all)
    table += "Full information: after every round agents learned the rewards of all actions.\n";
  const std::vector<std::string> environments = plan.environments();
  const std::vector<std::string> remarks = plan.remarks();
  for (std::size_t i = 0; i < remarks.size(); ++i) {
    const std::size_t rounds = row_of(rows, agents.front(), environments[i]).curve_rounds.back();
    if (rounds < plan.steps()) table += fmt::format("{}: ends after {} rounds\n", environments[i], rounds);
    if (!remarks[i].empty()) table += fmt::format("{}: {}\n", environments[i], remarks[i]);
  }
  return table;
}

std::string run_text(const Plan& plan, const std::vector<SummaryRow>& rows, bool colour) {
  return regret_table(plan, rows, colour) + health_text(plan, rows);
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
  if (plan.feedback() != Revealed::played) data["feedback"] = format_value(plan.feedback());
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
