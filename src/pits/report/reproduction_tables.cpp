// The tables of a reproduction.
#include <algorithm>
#include <cmath>

#include "pits/experiment/paper/paper.h"
#include "pits/report/reproduction_report.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

const SectionResult* find_section(const Reproduction& r, std::string_view id) {
  const auto found = std::ranges::find_if(r.sections, [&](const SectionResult& s) { return s.section.id == id; });
  return found == r.sections.end() ? nullptr : &*found;
}

std::string number(double x, int digits = 2) {
  if (std::isnan(x)) return "–";
  const std::string text = fmt::format("{:.{}f}", x, digits);
  // A negative number that rounds to nothing has no sign.
  return text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos ? text.substr(1) : text;
}

std::string run_note(const Plan& plan) {
  return fmt::format("{} realization{} of {} rounds, seed {}", plan.realizations(), plan.realizations() == 1 ? "" : "s",
                     plan.steps(), plan.seed());
}

std::vector<std::string> remark_notes(const SectionResult& result) {
  std::vector<std::string> notes;
  const std::vector<std::string> remarks = result.plan->remarks();
  for (std::size_t e = 0; e < remarks.size(); ++e) {
    if (!remarks[e].empty()) notes.push_back(result.section.environments[e].label + ": " + remarks[e] + ".");
  }
  return notes;
}

// One column for each problem; a file of bare numbers has the remark in the column's name.
void add_environments(const SectionResult& result, TextTable& table) {
  table.csv_header = table.header;
  const std::vector<std::string> remarks = result.plan->remarks();
  for (std::size_t e = 0; e < remarks.size(); ++e) {
    const std::string& label = result.section.environments[e].label;
    table.header.push_back(label);
    table.csv_header.push_back(remarks[e].empty() ? label : fmt::format("{} ({})", label, remarks[e]));
  }
}

}  // namespace

TextTable problems_table(const Reproduction& r) {
  TextTable table{.header = {"Problem", "Contexts", "paper", "Actions", "paper", "Note"}, .rows = {}};
  const SectionResult* benchmark = find_section(r, "benchmark");
  if (benchmark == nullptr) return table;
  const auto shapes = benchmark->plan->shapes();
  const auto remarks = benchmark->plan->remarks();
  for (std::size_t e = 0; e < shapes.size(); ++e) {
    const std::string& name = benchmark->section.environments[e].spec;
    const auto paper = std::ranges::find(paper_problems(), name, &PaperProblem::environment);
    const bool same = static_cast<int>(shapes[e].contexts) == paper->contexts;
    std::vector<std::string> notes;
    if (!remarks[e].empty()) notes.push_back(remarks[e]);
    if (!same && !paper->note.empty()) notes.push_back(paper->note);
    table.rows.push_back({paper->label, fmt::format("{}", shapes[e].contexts), fmt::format("{}", paper->contexts),
                          fmt::format("{}", shapes[e].actions), fmt::format("{}", paper->actions),
                          fmt::format("{}", fmt::join(notes, "; "))});
  }
  return table;
}

Json comparison_json(const Reproduction& r) {
  const SectionResult* benchmark = find_section(r, "benchmark");
  if (benchmark == nullptr) return nullptr;
  const Section& section = benchmark->section;
  const auto remarks = benchmark->plan->remarks();
  const bool comparable = benchmark->plan->steps() == paper_rounds;
  Json table = {
      {"comparable", comparable}, {"agents", Json::array()}, {"environments", Json::array()}, {"cells", Json::array()}};
  for (const Shown& agent : section.agents) {
    const Json of = agent.variant_of.empty() ? Json(nullptr) : Json(agent.variant_of);
    table["agents"].push_back({{"agent", agent.spec}, {"label", agent.label}, {"variant_of", of}});
  }
  for (std::size_t e = 0; e < section.environments.size(); ++e) {
    const Shown& env = section.environments[e];
    table["environments"].push_back({{"env", env.spec}, {"label", env.label}, {"remark", remarks[e]}});
    for (const Shown& agent : section.agents) {
      const Statistics& s = row_of(benchmark->rows, agent.spec, env.spec).normalized_regret;
      const auto paper = paper_regret(agent.variant_of.empty() ? agent.spec : agent.variant_of, env.spec);
      const auto known = [&](double x) { return paper ? Json(x) : Json(nullptr); };
      const double difference = paper ? s.mean - paper->mean : 0.0;
      table["cells"].push_back({{"agent", agent.spec},
                                {"env", env.spec},
                                {"mean", s.mean},
                                {"std", s.std},
                                {"se", s.se},
                                {"median", s.median},
                                {"realizations", benchmark->plan->realizations()},
                                {"paper_mean", known(paper ? paper->mean : 0.0)},
                                {"paper_spread", known(paper ? paper->spread : 0.0)},
                                {"difference", comparable ? known(difference) : Json(nullptr)},
                                {"difference_se", comparable ? known(difference / s.se) : Json(nullptr)}});
    }
  }
  return table;
}

TextTable regret_comparison(const Reproduction& r) {
  TextTable table{.header = {"Method", ""}, .rows = {}};
  const SectionResult* benchmark = find_section(r, "benchmark");
  if (benchmark == nullptr) return table;
  const Section& section = benchmark->section;
  const bool comparable = benchmark->plan->steps() == paper_rounds;
  add_environments(*benchmark, table);
  for (const Shown& agent : section.agents) {
    std::vector<std::string> ours = {agent.label, "ours"}, theirs = {"", "paper"}, difference = {"", "difference / se"};
    for (const Shown& env : section.environments) {
      const Statistics& s = row_of(benchmark->rows, agent.spec, env.spec).normalized_regret;
      ours.push_back(fmt::format("{} ± {} ({})", number(s.mean), number(s.std), number(s.se)));
      const auto paper = paper_regret(agent.variant_of.empty() ? agent.spec : agent.variant_of, env.spec);
      theirs.push_back(paper ? fmt::format("{:.2f} ± {:.2f}", paper->mean, paper->spread) : "");
      difference.push_back(paper && comparable ? number((s.mean - paper->mean) / s.se, 1) : "");
    }
    table.rows.push_back(ours);
    const bool in_paper = std::any_of(theirs.begin() + 2, theirs.end(), [](const auto& cell) { return !cell.empty(); });
    if (!in_paper) continue;
    table.rows.push_back(theirs);
    table.rows.push_back(difference);
  }
  table.notes = remark_notes(*benchmark);
  table.notes.insert(table.notes.begin(), "Normalised regret, mean ± standard deviation (standard error) over " +
                                              run_note(*benchmark->plan) + "; uniform play is 100.");
  if (benchmark->plan->realizations() < 10) {
    table.notes.push_back("With so few realizations the standard errors are rough themselves.");
  }
  if (!comparable) {
    table.notes.push_back(fmt::format("The paper's figures are for {} rounds: not comparable.", paper_rounds));
  }
  return table;
}

TextTable section_table(const SectionResult& result, bool normalized) {
  TextTable table{.header = {normalized ? "Normalised regret" : "Regret"}, .rows = {}, .notes = remark_notes(result)};
  add_environments(result, table);
  for (const Shown& agent : result.section.agents) {
    table.rows.push_back({agent.label});
    for (const Shown& env : result.section.environments) {
      const SummaryRow& row = row_of(result.rows, agent.spec, env.spec);
      const Statistics& s = normalized ? row.normalized_regret : row.regret;
      table.rows.back().push_back(fmt::format("{} ± {}", number(s.mean), number(s.se)));
    }
  }
  table.notes.insert(table.notes.begin(), "Mean ± standard error over " + run_note(*result.plan) +
                                              (normalized ? "; uniform play is 100." : "."));
  return table;
}

TextTable posterior_table(const SectionResult& result) {
  TextTable table{.header = {"W2 after round"}, .rows = {}};
  for (const Json& t : result.rows.front().observed.at("posterior_rounds")) table.header.push_back(t.dump());
  for (const Shown& agent : result.section.agents) {
    const Json& seen = row_of(result.rows, agent.spec, result.section.environments.front().spec).observed;
    for (const auto& [label, field] :
         {std::pair{agent.label, "posterior_w2"}, {"  floor on its rounds", "posterior_floor"}}) {
      table.rows.push_back({label});
      for (const double x : numbers_in(seen.at(field))) table.rows.back().push_back(number(x, 4));
    }
  }
  table.notes.push_back("Root mean square over contexts and actions, mean over " + run_note(*result.plan) + ".");
  return table;
}

}  // namespace pits
