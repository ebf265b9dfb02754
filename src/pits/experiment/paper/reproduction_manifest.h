// reproduction.json: which sections of the paper a directory holds, each in a run directory of its own.
#pragma once

#include <filesystem>
#include <vector>

#include "pits/experiment/paper/reproduction.h"

namespace pits {

struct ReproductionManifest {
  std::vector<Section> sections;  // with the problems and figures that were run, in the page's order
  std::vector<MissingData> missing;
};

bool is_reproduction(const std::filesystem::path& directory);
ReproductionManifest read_manifest(const std::filesystem::path& directory);
// Adds sections; those of the same name are replaced.
void add_to_manifest(const std::filesystem::path& directory, const std::vector<Section>& sections,
                     const std::vector<MissingData>& missing);

}  // namespace pits
