#include "pits/experiment/diagnostics/catalogue.h"

#include <limits>

#include "pits/core/error.h"
#include "pits/experiment/diagnostics/health.h"
#include "pits/experiment/diagnostics/posterior_distance.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

Json fields_of(const Diagnostic& diagnostic, const Json& cell) {
  Json fields = Json::object();
  for (const auto& [key, value] : cell.items()) {
    if (key == diagnostic.name || key.starts_with(std::string(diagnostic.name) + "_")) fields[key] = value;
  }
  return fields;
}

}  // namespace

const std::vector<Diagnostic>& diagnostic_catalogue() {
  static const std::vector<Diagnostic> all = {posterior_diagnostic(), health_diagnostic()};
  return all;
}

std::vector<Diagnostic> asked_diagnostics(std::string_view probe, bool health) {
  std::vector<Diagnostic> asked;
  std::vector<std::string> names;
  for (const Diagnostic& diagnostic : diagnostic_catalogue()) {
    names.emplace_back(diagnostic.name);
    if (diagnostic.name == probe || (health && diagnostic.name == "health")) asked.push_back(diagnostic);
  }
  if (!probe.empty() && std::ranges::find(names, probe) == names.end()) {
    throw unknown_name("probe", std::string(probe), names);
  }
  return asked;
}

Observers make_observers(const std::vector<Diagnostic>& asked, const ObservedRun& run) {
  Observers observers;
  for (const Diagnostic& diagnostic : asked) {
    if (auto observer = diagnostic.make(run)) observers.push_back(std::move(observer));
  }
  return observers;
}

Json observed_in(const Json& cell) {
  Json observed = Json::object();
  for (const Diagnostic& diagnostic : diagnostic_catalogue()) observed.update(fields_of(diagnostic, cell));
  return observed;
}

void check_observed(const std::vector<Diagnostic>& asked, const Json& observed, std::size_t rounds) {
  Json unasked = observed;
  for (const Diagnostic& diagnostic : asked) {
    const Json fields = fields_of(diagnostic, observed);
    diagnostic.check(fields, rounds);
    for (const auto& [key, value] : fields.items()) unasked.erase(key);
  }
  if (!unasked.empty()) throw bad_input("it has {}, which this run does not observe", unasked.items().begin().key());
}

Json summarise_observed(std::span<const Json> observed, std::size_t rounds) {
  Json summary = Json::object();
  for (const Diagnostic& diagnostic : diagnostic_catalogue()) {
    std::vector<Json> cells;
    for (const Json& cell : observed) {
      if (Json fields = fields_of(diagnostic, cell); !fields.empty()) cells.push_back(std::move(fields));
    }
    if (!cells.empty()) summary.update(diagnostic.summarise(cells, rounds));
  }
  return summary;
}

std::vector<double> numbers_in(const Json& list) {
  std::vector<double> numbers;
  for (const Json& x : list) {
    numbers.push_back(x.is_null() ? std::numeric_limits<double>::quiet_NaN() : x.get<double>());
  }
  return numbers;
}

}  // namespace pits
