// What an experiment runs: agents × environments × realizations. A cell is one of each.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pits/agent/catalogue.h"
#include "pits/environment/catalogue.h"
#include "pits/experiment/loop.h"

namespace pits {

// What a person asks for; the fields of the command line and of a TOML file.
struct ExperimentConfig {
  std::vector<std::string> agents{};        // specs
  std::vector<std::string> environments{};  // specs
  std::int64_t steps = 2000;                // T
  std::int64_t realizations = 10;           // R
  std::int64_t seed = 0;
  std::vector<std::string> set{};      // agent.field=value, for every agent of that name
  std::vector<std::string> set_env{};  // field=value, or environment.field=value
  std::string feedback = "played";     // or "all": after a round, agents learn the rewards of all actions
  std::string probe{};                 // "posterior": compare posteriors with the exact one, on linear problems
  bool diagnostics = false;            // report the health of particles
  std::string data_dir{};              // where data files are looked for first; not part of resolved()
  std::string device{};                // "cuda": cells of agents that have a GPU version run there; empty: the CPU
  std::string precision{};             // of the GPU's products: float32 or tf32; empty on the CPU
};

struct Cell {
  std::size_t index;  // in the order environments, agents, realizations
  std::size_t agent;
  std::size_t environment;
  std::uint32_t realization;
};

// What a plan can name.
struct Catalogues {
  std::vector<AgentEntry> agents = agent_catalogue();
  std::vector<EnvironmentEntry> environments = environment_catalogue();
};

// The config with every name looked up and every field set, or an Error.
class Plan {
 public:
  explicit Plan(const ExperimentConfig& config, const Catalogues& catalogues = {});
  // The plan of a run directory, from its resolved(); needs no data, for nothing is tried out.
  static Plan from_resolved(const nlohmann::ordered_json& resolved);

  std::size_t cells() const { return agents_.size() * environments_.size() * realizations_; }
  Cell cell(std::size_t index) const;
  std::size_t rounds(const Cell& cell) const;  // steps(), or as many as the environment has
  Trajectory run(const Cell& cell, const RoundsDone& done) const;
  // What a cell is made of, for whoever runs several at once.
  std::unique_ptr<Environment> make_environment(const Cell& cell) const;
  std::unique_ptr<Agent> make_agent(const Cell& cell, const Environment& environment) const;

  std::vector<std::string> agents() const;        // labels
  std::vector<std::string> environments() const;  // labels
  std::size_t steps() const { return steps_; }
  std::size_t realizations() const { return realizations_; }
  std::uint64_t seed() const { return seed_; }
  Revealed feedback() const { return feedback_; }
  bool probes() const { return !probe_.empty(); }
  bool diagnoses() const { return diagnostics_; }
  const std::string& device() const { return device_; }
  const std::string& precision() const { return precision_; }
  struct Shape {
    std::size_t contexts, actions;  // d, K
  };
  std::vector<Shape> shapes() const;         // of each environment
  std::vector<std::string> remarks() const;  // of each environment on its data; empty: nothing to say
  // Everything that the results depend on, all defaults spelt out.
  nlohmann::ordered_json resolved() const;

 private:
  struct NamedAgent {
    Spec spec;
    std::unique_ptr<AgentRecipe> recipe;
  };
  struct NamedEnvironment {
    Spec spec;
    std::unique_ptr<EnvironmentRecipe> recipe;
    std::string data_sha256{};
    std::string remark{};
    Shape shape{};
    std::unique_ptr<Environment> tried{};  // kept: all cells share what it has loaded
  };

  struct Untried {};

  Plan(const ExperimentConfig& config, const Catalogues& catalogues, Untried);
  std::unique_ptr<Probe> make_probe(const Environment& environment) const;  // none where none was asked for
  void try_out();
  EnvironmentSetup setup_of(std::uint32_t realization) const;

  std::vector<NamedAgent> agents_;
  std::vector<NamedEnvironment> environments_;
  std::size_t steps_;
  std::size_t realizations_;
  std::uint64_t seed_;
  Revealed feedback_;
  std::string probe_;
  bool diagnostics_;
  std::string data_dir_;
  std::string device_, precision_;
};

}  // namespace pits
