#include "pits/core/catalogue.h"

namespace pits {

std::pair<std::string, std::string> parse_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw bad_input("'{}' must look like field=value (lists with x: hidden=50x50)", text);
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

Spec parse_spec(std::string_view text) {
  Spec spec{.text = std::string(text), .name = {}, .preset = {}, .assignments = {}};
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::string_view head = text.substr(0, comma);
  const std::size_t colon = std::min(head.find(':'), head.size());
  spec.name = head.substr(0, colon);
  if (colon < head.size()) {
    spec.preset = head.substr(colon + 1);
    if (spec.preset.empty()) throw bad_input("'{}' names no preset or argument after ':'", text);
  }
  if (spec.name.empty()) throw bad_input("'{}' must start with a name", text);
  for (std::size_t start = comma + 1; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const auto [field, value] = parse_assignment(text.substr(start, end - start));
    for (const auto& [before, ignored] : spec.assignments) {
      if (before == field) throw bad_input("'{}' gives {} twice; give it once", text, field);
    }
    spec.assignments.emplace_back(field, value);
    start = end + 1;
  }
  return spec;
}

}  // namespace pits
