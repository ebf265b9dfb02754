// What the directory of a reproduction holds, and how it is read again.
#include <algorithm>

#include "pits/core/files.h"
#include "pits/experiment/json_words.h"
#include "pits/report/reproduction_report.h"
#include "pits/version.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

struct Holdings {
  std::vector<Section> sections;
  std::vector<MissingData> missing;
};

Json to_json(const Holdings& holdings) {
  Json sections = Json::array(), missing = Json::array();
  for (const Section& section : holdings.sections) {
    Json environments = Json::array();
    for (const Shown& env : section.environments) environments.push_back(env.spec);
    sections.push_back({{"id", section.id}, {"environments", environments}, {"figures", section.figures}});
  }
  for (const MissingData& m : holdings.missing) {
    missing.push_back({{"section", m.section}, {"env", m.environment}, {"reason", m.reason}});
  }
  return {{"version", version}, {"sections", sections}, {"missing", missing}};
}

// The paper's section of that name with the problems and figures that were run.
Section section_in(const Json& entry) {
  const auto sections = paper_sections();
  const auto found = std::ranges::find(sections, entry.at("id").get<std::string>(), &Section::id);
  if (found == sections.end()) throw bad_input("unknown section {}", entry.at("id").dump());
  Section section = *found;
  const auto environments = entry.at("environments").get<std::vector<std::string>>();
  std::erase_if(section.environments,
                [&](const Shown& env) { return std::ranges::find(environments, env.spec) == environments.end(); });
  section.figures = entry.at("figures").get<std::vector<std::string>>();
  return section;
}

Holdings read_holdings(const std::filesystem::path& file) {
  constexpr std::string_view remedy = "remove it and 'pits reproduce' with --resume writes it again";
  const Json json = read_json_file(file, remedy);
  const auto damaged = [&](const std::string& reason) {
    return bad_input("'{}' is damaged: {}; {}", file.string(), reason, remedy);
  };
  try {
    Holdings holdings;
    for (const Json& entry : json.at("sections")) holdings.sections.push_back(section_in(entry));
    for (const Json& m : json.at("missing")) {
      holdings.missing.push_back(
          {m.at("section").get<std::string>(), m.at("env").get<std::string>(), m.at("reason").get<std::string>()});
    }
    if (holdings.sections.empty()) throw bad_input("it names no section");
    return holdings;
  } catch (const Json::exception& e) {
    throw damaged(in_own_words(e));
  } catch (const Error& e) {
    throw damaged(e.what());
  }
}

// Where a section stands on the page.
std::size_t place_of(const Section& section) {
  const auto sections = paper_sections();
  return static_cast<std::size_t>(std::ranges::find(sections, section.id, &Section::id) - sections.begin());
}

}  // namespace

void add_holdings(const std::filesystem::path& directory, const std::vector<Section>& sections,
                  const std::vector<MissingData>& missing) {
  const std::filesystem::path file = directory / "reproduction.json";
  Holdings all = std::filesystem::exists(file) ? read_holdings(file) : Holdings{};
  const auto is_new = [&](const std::string& id) {
    return std::ranges::find(sections, id, &Section::id) != sections.end();
  };
  std::erase_if(all.sections, [&](const Section& s) { return is_new(s.id); });
  std::erase_if(all.missing, [&](const MissingData& m) { return is_new(m.section); });
  all.sections.insert(all.sections.end(), sections.begin(), sections.end());
  all.missing.insert(all.missing.end(), missing.begin(), missing.end());
  std::ranges::stable_sort(all.sections, {}, place_of);
  write_file_atomically(file, to_json(all).dump(2) + "\n");
}

Plan read_plan(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "run.json";
  const auto resolved = read_resolved(directory);
  try {
    return Plan::from_resolved(resolved);
  } catch (const Error& e) {
    throw bad_input("'{}': {}", file.string(), e.what());
  }
}

std::vector<SummaryRow> finished_rows(const std::filesystem::path& directory, const Plan& plan) {
  const auto run = RunDirectory::open(directory, plan);
  std::size_t lacking = 0;
  for (std::size_t i = 0; i < plan.cells(); ++i) lacking += run->has(i) ? 0 : 1;
  if (lacking == 0) return summarise(plan, *run);
  throw bad_input("'{}' lacks {} of {} cells; finish it with --resume", directory.string(), lacking, plan.cells());
}

Reproduction load_reproduction(const std::filesystem::path& directory) {
  Holdings holdings = read_holdings(directory / "reproduction.json");
  Reproduction r{.sections = {}, .missing = std::move(holdings.missing), .origin = {}};
  for (Section& section : holdings.sections) {
    const auto plan = std::make_shared<const Plan>(read_plan(directory / section.id));
    std::vector<SummaryRow> rows = finished_rows(directory / section.id, *plan);
    r.sections.push_back({.section = std::move(section), .plan = plan, .rows = std::move(rows)});
  }
  r.origin = read_origin(directory / r.sections.front().section.id);
  return r;
}

}  // namespace pits
