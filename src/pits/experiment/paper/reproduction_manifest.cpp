#include "pits/experiment/paper/reproduction_manifest.h"

#include <algorithm>

#include "pits/core/io/files.h"
#include "pits/experiment/json_words.h"
#include "pits/experiment/results.h"
#include "pits/version.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ReproductionManifest& manifest) {
  Json sections = Json::array(), missing = Json::array();
  for (const Section& section : manifest.sections) {
    Json environments = Json::array();
    for (const Shown& env : section.environments) environments.push_back(env.spec);
    sections.push_back({{"id", section.id}, {"environments", environments}, {"figures", section.figures}});
  }
  for (const MissingData& m : manifest.missing) {
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

std::filesystem::path manifest_file(const std::filesystem::path& directory) { return directory / "reproduction.json"; }

// Where a section stands on the page.
std::size_t place_of(const Section& section) {
  const auto sections = paper_sections();
  return static_cast<std::size_t>(std::ranges::find(sections, section.id, &Section::id) - sections.begin());
}

}  // namespace

bool is_reproduction(const std::filesystem::path& directory) {
  return std::filesystem::exists(manifest_file(directory));
}

ReproductionManifest read_manifest(const std::filesystem::path& directory) {
  const std::filesystem::path file = manifest_file(directory);
  constexpr std::string_view remedy = "remove it and 'pits reproduce' with --resume writes it again";
  const Json json = read_json_file(file, remedy);
  const auto damaged = [&](const std::string& reason) {
    return bad_input("'{}' is damaged: {}; {}", file.string(), reason, remedy);
  };
  try {
    ReproductionManifest manifest;
    for (const Json& entry : json.at("sections")) manifest.sections.push_back(section_in(entry));
    for (const Json& m : json.at("missing")) {
      manifest.missing.push_back(
          {m.at("section").get<std::string>(), m.at("env").get<std::string>(), m.at("reason").get<std::string>()});
    }
    if (manifest.sections.empty()) throw bad_input("it names no section");
    return manifest;
  } catch (const Json::exception& e) {
    throw damaged(in_own_words(e));
  } catch (const Error& e) {
    throw damaged(e.what());
  }
}

void add_to_manifest(const std::filesystem::path& directory, const std::vector<Section>& sections,
                     const std::vector<MissingData>& missing) {
  ReproductionManifest all = is_reproduction(directory) ? read_manifest(directory) : ReproductionManifest{};
  const auto is_new = [&](const std::string& id) {
    return std::ranges::find(sections, id, &Section::id) != sections.end();
  };
  std::erase_if(all.sections, [&](const Section& s) { return is_new(s.id); });
  std::erase_if(all.missing, [&](const MissingData& m) { return is_new(m.section); });
  all.sections.insert(all.sections.end(), sections.begin(), sections.end());
  all.missing.insert(all.missing.end(), missing.begin(), missing.end());
  std::ranges::stable_sort(all.sections, {}, place_of);
  write_file_atomically(manifest_file(directory), to_json(all).dump(2) + "\n");
}

}  // namespace pits
