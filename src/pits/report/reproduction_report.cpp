#include "pits/report/reproduction_report.h"

#include <algorithm>
#include <cmath>

#include "pits/core/io/files.h"
#include "pits/experiment/paper/paper.h"
#include "pits/experiment/paper/reproduction_manifest.h"
#include "pits/report/page.h"
#include "pits/version.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

// {name, values: {spec: place}}, or null where the section has no such axis.
Json axis(const std::string& name, const std::vector<Shown>& things) {
  if (name.empty()) return nullptr;
  Json values = Json::object();
  for (const Shown& thing : things) {
    if (!std::isnan(thing.place)) values[thing.spec] = thing.place;
  }
  return {{"name", name}, {"values", values}};
}

Json section_data(const SectionResult& result) {
  const Section& section = result.section;
  Json labels = Json::object();
  for (const auto* list : {&section.agents, &section.environments}) {
    for (const Shown& thing : *list) labels[thing.spec] = thing.label;
  }
  Json data = {{"id", section.id},
               {"title", section.title},
               {"text", section.text},
               {"figures", section.figures},
               {"labels", labels},
               {"x", axis(section.agent_axis, section.agents)},
               {"env_x", axis(section.environment_axis, section.environments)}};
  data.update(run_data(*result.plan, result.rows));
  return data;
}

// The exact draws' floor depends on the rounds an agent played; shown is that of the first agent, Lin-TS.
Json posterior_data(const SectionResult& result) {
  const Section& section = result.section;
  Json series = Json::array();
  for (const Shown& agent : section.agents) {
    const auto row = std::ranges::find(result.rows, agent.spec, &SummaryRow::agent);
    series.push_back({{"agent", agent.spec},
                      {"label", agent.label},
                      {"mean", row->observed.at("posterior_w2")},
                      {"se", row->observed.at("posterior_w2_se")}});
  }
  const Json& first = result.rows.front().observed;
  return {{"title", section.title},
          {"text", section.text},
          {"dimension", result.plan->shapes().front().contexts},
          {"rounds", first.at("posterior_rounds")},
          {"series", series},
          {"floor",
           {{"label", "exact draws, on Lin-TS's rounds"}, {"mean", first.at("posterior_floor")}, {"se", nullptr}}}};
}

// Table 1, with the problems whose data is missing as rows without our figures.
Json problems_data(const Reproduction& r) {
  Json problems = Json::array();
  for (const PaperProblem& paper : paper_problems()) {
    Json row = {{"env", paper.environment},
                {"label", paper.label},
                {"contexts", nullptr},
                {"actions", nullptr},
                {"paper_contexts", paper.contexts},
                {"paper_actions", paper.actions}};
    for (const SectionResult& result : r.sections) {
      const auto names = result.plan->environments();
      const auto at = std::ranges::find(names, paper.environment);
      if (at == names.end()) continue;
      const Plan::Shape shape = result.plan->shapes()[static_cast<std::size_t>(at - names.begin())];
      row["contexts"] = shape.contexts;
      row["actions"] = shape.actions;
      row["note"] = static_cast<int>(shape.contexts) == paper.contexts ? "" : paper.note;
    }
    problems.push_back(std::move(row));
  }
  return problems;
}

Json missing_json(const Reproduction& r) {
  Json missing = Json::array();
  for (const MissingData& m : r.missing) {
    missing.push_back({{"section", m.section}, {"env", m.environment}, {"reason", m.reason}});
  }
  return missing;
}

bool wants_table(const SectionResult& result) {
  return result.section.id == "benchmark" &&
         std::ranges::find(result.section.figures, "table") != result.section.figures.end();
}

void write_table(const std::filesystem::path& stem, const TextTable& table) {
  const auto write = [&](const char* extension, const std::string& text) {
    write_file_atomically(std::filesystem::path(stem).concat(extension), text);
  };
  write(".txt", as_text(table));
  write(".md", as_markdown(table));
  write(".tex", as_latex(table));
  write(".csv", as_csv(table));
}

}  // namespace

Json reproduction_data(const Reproduction& r) {
  const Plan& plan = *r.sections.front().plan;
  Json data = {{"kind", "reproduce"},
               {"title", "Scalable Thompson Sampling via Optimal Transport, reproduced"},
               {"command", r.origin.command},
               {"machine", r.origin.machine},
               {"version", version},
               {"seed", plan.seed()},
               {"steps", plan.steps()},
               {"realizations", plan.realizations()},
               {"missing", missing_json(r)},
               {"problems", Json::array()},
               {"table", nullptr},
               {"sections", Json::array()},
               {"posterior", nullptr}};
  for (const SectionResult& result : r.sections) {
    if (wants_table(result)) {
      data["problems"] = problems_data(r);
      data["table"] = comparison_json(r);
    }
    if (result.section.id == "posterior") {
      data["posterior"] = posterior_data(result);
    } else {
      data["sections"].push_back(section_data(result));
    }
  }
  return data;
}

void write_reproduction(const std::filesystem::path& directory, const Reproduction& r) {
  const std::filesystem::path tables = directory / "tables";
  create_directories_or_throw(tables);
  for (const SectionResult& result : r.sections) {
    const std::string& id = result.section.id;
    if (id == "benchmark") {
      write_table(tables / "table-1", problems_table(r));
      write_table(tables / "table-2", regret_comparison(r));
      write_file_atomically(tables / "table-2.json", comparison_json(r).dump(2) + "\n");
    }
    if (id == "posterior") write_table(tables / "posterior", posterior_table(result));
    write_table(tables / (id + "-normalized-regret"), section_table(result, true));
    write_table(tables / (id + "-regret"), section_table(result, false));
  }
  write_file_atomically(directory / "report.html", render_page(reproduction_data(r)));
}

Reproduction load_reproduction(const std::filesystem::path& directory) {
  ReproductionManifest manifest = read_manifest(directory);
  Reproduction r{.sections = {}, .missing = std::move(manifest.missing), .origin = {}};
  for (Section& section : manifest.sections) {
    const auto plan = std::make_shared<const Plan>(read_plan(directory / section.id));
    std::vector<SummaryRow> rows = finished_rows(directory / section.id, *plan);
    const std::vector<std::string> ran = plan->agents();  // an older directory may lack agents that sections have now
    std::erase_if(section.agents, [&](const Shown& agent) { return std::ranges::find(ran, agent.spec) == ran.end(); });
    r.sections.push_back({.section = std::move(section), .plan = plan, .rows = std::move(rows)});
  }
  r.origin = read_origin(directory / r.sections.front().section.id);
  return r;
}

}  // namespace pits
