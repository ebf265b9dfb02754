// The paper's benchmark as plans: which agents meet which problems for every table and figure.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "pits/experiment/plan.h"

namespace pits {

// An agent or an environment with the name that tables show.
struct Shown {
  std::string spec;
  std::string label;
  std::string variant_of{};                                 // spec of the agent that this is a variant of
  double place = std::numeric_limits<double>::quiet_NaN();  // on the section's axis, where it has one
};

// One run directory, and the part of the page that shows it.
struct Section {
  std::string id;  // benchmark, ablation, linear, posterior, wheel: also the name of its run directory
  std::string title;
  std::string text;
  std::vector<Shown> agents;
  std::vector<Shown> environments;
  std::string agent_axis{};        // what `place` of the agents is
  std::string environment_axis{};  // what `place` of the environments is
  std::string probe{};
  std::vector<std::string> figures{};  // benchmark: those of table, box and curves that were asked for
};

std::vector<Section> paper_sections();

// Sections and problems by name: "table", "box" and "curves" mean the benchmark. A problem restricts the named sections
// that have it, or brings in its own; "wheel" and "linear" are both. No name: everything. An unknown one is an Error.
std::vector<Section> select_sections(const std::vector<std::string>& only);

// A problem whose data is not here.
struct MissingData {
  std::string section, environment, reason;
};
// Leaves out the problems whose data files are not found, but throws for those in `asked` (names given by --only), and
// the sections that have no problem left.
std::vector<MissingData> drop_missing_data(std::vector<Section>& sections, const std::vector<std::string>& asked,
                                           const std::string& data_dir);

// The agents, problems and probe of a section, all else as in `config`.
ExperimentConfig section_config(const Section& section, ExperimentConfig config);

}  // namespace pits
