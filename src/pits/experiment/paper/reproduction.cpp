#include "pits/experiment/paper/reproduction.h"

#include <algorithm>
#include <functional>

#include "pits/data/source/locate.h"
#include "pits/experiment/paper/paper.h"

namespace pits {
namespace {

// The agents that the paper compares.
std::vector<Shown> paper_agents() {
  return {{.spec = "lin-ts", .label = "Lin-TS"},
          {.spec = "neural-linear", .label = "Neural Linear"},
          {.spec = "vi-ts", .label = "VI-TS"},
          {.spec = "pi-ts:released", .label = "π-TS-DGF"}};
}

// What '--agent pi-ts' plays; not in the paper.
Shown our_default() { return {.spec = "pi-ts", .label = "π-TS, our default"}; }

Section benchmark() {
  Section s{.id = "benchmark",
            .title = "Six data sets",
            .text =
                "Every method meets the same rounds. The variants restart the learning rate at every training, as "
                "the showdown's code means to and does not. The last row is what '--agent pi-ts' plays; it is not in "
                "the paper.",
            .agents = paper_agents(),
            .environments = {},
            .figures = {"table", "box", "curves"}};
  s.agents.insert(s.agents.begin() + 2, {.spec = "neural-linear:showdown-reset",
                                         .label = "Neural Linear, step restarted",
                                         .variant_of = "neural-linear"});
  s.agents.push_back(our_default());
  for (const PaperProblem& p : paper_problems()) s.environments.push_back({.spec = p.environment, .label = p.label});
  return s;
}

Section ablation() {
  Section s{.id = "ablation",
            .title = "How many particles",
            .text = "π-TS-DGF with M particles on linear rewards with noise of variance 0.1, two initial pulls.",
            .agents = {},
            .environments = {{.spec = "linear,noise=variance,noise_level=0.1,noise_growth=none",
                              .label = "Linear, σ² = 0.1"}},
            .agent_axis = "particles M"};
  for (const int m : {1, 5, 20, 50}) {
    s.agents.push_back(
        {.spec = fmt::format("pi-ts:released,particles={}", m), .label = fmt::format("M = {}", m), .place = double(m)});
  }
  return s;
}

Section linear() {
  Section s{
      .id = "linear",
      .title = "Linear and sparse linear",
      .text =
          "Rewards linear in the context, and in a third of it; contexts of 10 and of 20 numbers. The last row is "
          "what '--agent pi-ts' plays.",
      .agents = paper_agents(),
      .environments = {{.spec = "linear:d10", .label = "Linear, d = 10"},
                       {.spec = "linear:d20", .label = "Linear, d = 20"},
                       {.spec = "sparse_linear:d10", .label = "Sparse linear, d = 10"},
                       {.spec = "sparse_linear:d20", .label = "Sparse linear, d = 20"}}};
  s.agents.push_back({.spec = "pi-ts:released,flow=blob", .label = "π-TS-Blob"});
  s.agents.push_back({.spec = "pi-ts:released,flow=svgd", .label = "π-TS-SVGD"});
  s.agents.push_back(our_default());
  return s;
}

Section posterior() {
  Section s{.id = "posterior",
            .title = "The posterior itself",
            .text =
                "How far each method's belief about the mean rewards is from the exact posterior given the rounds it "
                "played: 2-Wasserstein distance of the marginals at contexts no round shows, root mean square. The "
                "floor is what as many exact draws score. 'linear model' particles know the form of the rewards and "
                "the noise, as Lin-TS does its form; the networks do not.",
            .agents = paper_agents(),
            .environments = {{.spec = "linear,noise_level=0.1,noise_growth=none", .label = "Linear, σ = 0.1"}},
            .probe = "posterior"};
  for (const auto& [flow, label] : {std::pair{"svgd", "SVGD"}, {"blob", "Blob"}, {"dgf", "DGF"}}) {
    s.agents.push_back({.spec = fmt::format("pi-ts:paper,model=linear,noise_sd=0.1,flow={}", flow),
                        .label = fmt::format("π-TS-{}, linear model", label)});
  }
  return s;
}

Section wheel() {
  Section s{
      .id = "wheel",
      .title = "The wheel, and Jester",
      .text =
          "The wheel pays 50 outside radius δ, for one arm in each quadrant: the larger δ, the rarer the lesson. "
          "Jester: which of 8 jokes will a person like, from 32 ratings. The last row is what '--agent pi-ts' plays.",
      .agents = paper_agents(),
      .environments = {},
      .environment_axis = "δ"};
  s.agents.push_back(our_default());
  for (const double delta : {0.5, 0.7, 0.9, 0.95, 0.99}) {
    s.environments.push_back(
        {.spec = fmt::format("wheel,delta={}", delta), .label = fmt::format("Wheel, δ = {}", delta), .place = delta});
  }
  s.environments.push_back({.spec = "jester", .label = "Jester"});
  return s;
}

bool is_data_set(std::string_view name) {
  return std::ranges::find(data_catalogue(), name, &DataSet::name) != data_catalogue().end();
}

std::string problem_of(const Shown& environment) { return parse_spec(environment.spec).name; }

// The names --only takes.
struct Names {
  std::vector<std::string> sections = {"table", "box", "curves", "ablation", "linear", "posterior", "wheel"};
  std::vector<std::string> problems{};

  explicit Names(const std::vector<Section>& all) {
    for (const Section& section : all) {
      for (const Shown& environment : section.environments) {
        const std::string name = problem_of(environment);
        if (!contains(sections, name) && !contains(problems, name)) problems.push_back(name);
      }
    }
  }
  static bool contains(const std::vector<std::string>& list, const std::string& name) {
    return std::ranges::find(list, name) != list.end();
  }
};

}  // namespace

std::vector<Section> paper_sections() { return {benchmark(), ablation(), linear(), posterior(), wheel()}; }

std::vector<Section> select_sections(const std::vector<std::string>& only) {
  std::vector<Section> all = paper_sections();
  if (only.empty()) return all;
  const Names names(all);
  const auto given = [&](const std::string& name) { return Names::contains(only, name); };
  for (const std::string& name : only) {
    if (Names::contains(names.sections, name) || Names::contains(names.problems, name)) continue;
    std::vector<std::string> known = names.sections;
    known.insert(known.end(), names.problems.begin(), names.problems.end());
    throw unknown_name("name after --only", name, known);
  }
  const auto named = [&](const Section& s) {
    return s.id == "benchmark" ? std::ranges::any_of(s.figures, given) : given(s.id);
  };
  // Problems that some named section has restrict that section; the others bring in their own.
  std::vector<std::string> placed;
  for (const Section& section : all) {
    if (!named(section)) continue;
    for (const Shown& env : section.environments) placed.push_back(problem_of(env));
  }
  for (Section& section : all) {
    const bool here = named(section);
    const auto pure = [&](const Shown& env) {
      const std::string name = problem_of(env);
      return given(name) && Names::contains(names.problems, name) && (here || !Names::contains(placed, name));
    };
    const bool restricted = std::ranges::any_of(section.environments, pure);
    if (here && section.id == "benchmark") std::erase_if(section.figures, std::not_fn(given));
    if (here && !restricted) continue;
    std::erase_if(section.environments,
                  [&](const Shown& env) { return !pure(env) && !(here && given(problem_of(env))); });
  }
  std::erase_if(all, [](const Section& section) { return section.environments.empty(); });
  return all;
}

std::vector<MissingData> drop_missing_data(std::vector<Section>& sections, const std::vector<std::string>& asked,
                                           const std::string& data_dir) {
  data_directories(data_dir);  // a directory that was named and is not there is an error, not missing data
  std::vector<MissingData> missing;
  for (Section& section : sections) {
    std::erase_if(section.environments, [&](const Shown& environment) {
      const std::string name = problem_of(environment);
      if (!is_data_set(name)) return false;
      const DataSet& set = find_data_set(name);
      const auto absent = std::ranges::find_if(
          set.files, [&](const DataFile& file) { return !locate_data_file(file, data_dir).has_value(); });
      if (absent == set.files.end()) return false;
      if (Names::contains(asked, name)) find_data_file(set, *absent, data_dir);  // throws
      missing.push_back({.section = section.id,
                         .environment = name,
                         .reason = fmt::format("{} is not here; 'pits data fetch {}' gets it", absent->name, name)});
      return true;
    });
  }
  std::erase_if(sections, [](const Section& section) { return section.environments.empty(); });
  return missing;
}

ExperimentConfig section_config(const Section& section, ExperimentConfig config) {
  config.probe = section.probe;
  for (const Shown& agent : section.agents) config.agents.push_back(agent.spec);
  for (const Shown& environment : section.environments) config.environments.push_back(environment.spec);
  return config;
}

}  // namespace pits
