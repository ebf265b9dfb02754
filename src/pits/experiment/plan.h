// What an experiment runs: agents × environments × realizations. A cell is one of each.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pits/agent/catalogue.h"
#include "pits/environment/catalogue.h"
#include "pits/experiment/config.h"
#include "pits/experiment/diagnostics/catalogue.h"

namespace pits {

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
  // The plan of a run directory, from its resolved(); needs no data, because no environment is created.
  static Plan from_resolved(const nlohmann::ordered_json& resolved);

  std::size_t cells() const { return agents_.size() * environments_.size() * realizations(); }
  Cell cell(std::size_t index) const;
  std::size_t rounds(const Cell& cell) const;  // steps(), or as many as the environment has
  // What a cell is made of.
  std::unique_ptr<Environment> make_environment(const Cell& cell) const;
  std::unique_ptr<Agent> make_agent(const Cell& cell, const Environment& environment) const;
  // Throws unless the realization has as many rounds, contexts and actions as realization 0: they are averaged.
  void check_like_the_first(const Cell& cell, const Environment& environment) const;

  std::vector<std::string> agents() const;        // labels
  std::vector<std::string> environments() const;  // labels
  std::size_t steps() const { return static_cast<std::size_t>(config_.steps); }
  std::size_t realizations() const { return static_cast<std::size_t>(config_.realizations); }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(config_.seed); }
  FeedbackKind feedback() const { return config_.feedback; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }  // those that were asked for
  const ExperimentConfig& config() const { return config_; }  // the device is the CPU or the GPU, never `automatic`
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
  void try_out();
  EnvironmentSetup setup_of(std::uint32_t realization) const;

  ExperimentConfig config_;
  std::vector<Diagnostic> diagnostics_;
  std::vector<NamedAgent> agents_;
  std::vector<NamedEnvironment> environments_;
};

}  // namespace pits
