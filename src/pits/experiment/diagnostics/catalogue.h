// What a run can observe besides regret: one row per diagnostic, each in a file of its own.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "pits/environment/environment.h"
#include "pits/experiment/observer.h"

namespace pits {

struct SummaryRow;

// The agent and the problem of a cell.
struct ObservedRun {
  const Agent& agent;
  const Environment& environment;
  std::size_t steps;  // T

  std::size_t rounds() const { return std::min(steps, environment.horizon()); }
};

// In a cell and in a summary the fields of a diagnostic are called NAME or NAME_...
struct Diagnostic {
  using Json = nlohmann::ordered_json;

  std::string_view name;  // --probe NAME asks for it
  // None where this agent has nothing to observe; an Error where the diagnostic does not fit the agent or the problem.
  std::unique_ptr<Observer> (*make)(const ObservedRun& run);
  // Throws where its fields of a cell do not fit together. They may all be missing if an agent can have no observer.
  void (*check)(const Json& cell, std::size_t rounds);
  // From its fields of all realizations, at least one, to those of the summary.
  Json (*summarise)(std::span<const Json> cells, std::size_t rounds);
  // What the terminal shows below the table of regret; may be null.
  std::string (*text)(const std::vector<SummaryRow>& rows) = nullptr;
  std::string_view nothing_to_observe = "";  // the Error where no agent of a plan has an observer
};

// Adding a diagnostic is a file, a line here and a test.
const std::vector<Diagnostic>& diagnostic_catalogue();

// Those that `--probe NAME` and `--diagnostics` (the health of particles) ask for.
std::vector<Diagnostic> asked_diagnostics(std::string_view probe, bool health);
Observers make_observers(const std::vector<Diagnostic>& asked, const ObservedRun& run);

// The fields of all diagnostics in a cell.
nlohmann::ordered_json observed_in(const nlohmann::ordered_json& cell);
// Throws where something is missing, does not fit together or was not asked for.
void check_observed(const std::vector<Diagnostic>& asked, const nlohmann::ordered_json& observed, std::size_t rounds);
nlohmann::ordered_json summarise_observed(std::span<const nlohmann::ordered_json> observed, std::size_t rounds);

// A list of numbers, of which JSON writes NaN as null.
std::vector<double> numbers_in(const nlohmann::ordered_json& list);

}  // namespace pits
