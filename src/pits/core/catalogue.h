// Catalogues: explicit tables of what can be made by name, with presets and fields.
//
// A thing is asked for by a spec, NAME[:PRESET][,field=value...]:  "lin-ts"   "pi-ts:released,flow=svgd"
// Some take an argument instead of a preset, the value of one of their fields:  "csv:heart.csv,label=disease"
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pits/core/fields.h"

namespace pits {

struct Spec {
  std::string text;  // as written: the label of the thing in tables and files
  std::string name;
  std::string preset;  // or the argument
  std::vector<std::pair<std::string, std::string>> assignments;
};
Spec parse_spec(std::string_view text);

// The two sides of "field=value". With --set the left side may be "name.field".
std::pair<std::string, std::string> parse_assignment(std::string_view text);

// A config with its type erased: fields to set, and a maker.
template <class Product, class Setup>
class Recipe {
 public:
  virtual ~Recipe() = default;
  virtual Fields fields() = 0;
  virtual std::unique_ptr<Product> make(const Setup& setup) const = 0;
};

struct Preset {
  std::string name;
  std::string summary;
};

template <class Product, class Setup>
struct Entry {
  std::string name;
  std::string summary;
  std::vector<Preset> presets;  // the first is the default; none: one setting only
  std::function<std::unique_ptr<Recipe<Product, Setup>>(std::string_view preset)> recipe;
  std::string argument{};  // the field that takes the text after the colon; empty: it is a preset
};

// The config's own list of fields, from inside a class that has a member of that name.
template <class Config>
Fields fields_of(Config& config) {
  return fields(config);
}

// A recipe for a product `Made` that is constructed from (Config, Setup).
template <class Product, class Setup, class Made, class Config>
std::unique_ptr<Recipe<Product, Setup>> make_recipe(Config config) {
  struct TypedRecipe final : Recipe<Product, Setup> {
    explicit TypedRecipe(Config c) : config(std::move(c)) {}
    Fields fields() override { return fields_of(config); }
    std::unique_ptr<Product> make(const Setup& setup) const override { return std::make_unique<Made>(config, setup); }
    Config config;
  };
  return std::make_unique<TypedRecipe>(std::move(config));
}

// `preset` gives the Config of a preset.
template <class Product, class Setup, class Made, class Config>
Entry<Product, Setup> make_entry(std::string name, std::string summary, std::vector<Preset> presets,
                                 Config (*preset)(std::string_view)) {
  return {std::move(name), std::move(summary), std::move(presets),
          [preset](std::string_view p) { return make_recipe<Product, Setup, Made>(preset(p)); }};
}

// For a product with one setting only.
template <class Config>
Config default_config(std::string_view) {
  return Config{};
}

// Finds the entry and preset, and applies the spec's assignments; unknown names get a "did you mean".
template <class Product, class Setup>
std::unique_ptr<Recipe<Product, Setup>> find_recipe(const std::vector<Entry<Product, Setup>>& catalogue,
                                                    std::string_view what, const Spec& spec) {
  std::vector<std::string> names;
  for (const auto& entry : catalogue) {
    names.push_back(entry.name);
    if (entry.name != spec.name) continue;
    std::vector<std::string> presets;
    for (const Preset& p : entry.presets) presets.push_back(p.name);
    const bool has_argument = !entry.argument.empty() && !spec.preset.empty();
    if (!has_argument && !spec.preset.empty() && std::ranges::find(presets, spec.preset) == presets.end()) {
      if (presets.empty()) throw bad_input("{} '{}' has no presets, so not '{}'", what, spec.name, spec.preset);
      throw bad_input("{} '{}': {}", what, spec.name, unknown_name("preset", spec.preset, presets).what());
    }
    auto recipe = entry.recipe(spec.preset.empty() && !presets.empty() ? presets.front() : spec.preset);
    if (has_argument) recipe->fields().set(entry.argument, spec.preset);
    for (const auto& [field, value] : spec.assignments) {
      if (has_argument && field == entry.argument) {
        throw bad_input("'{}' gives {} twice, before and after the comma; give it once", spec.text, field);
      }
      try {
        recipe->fields().set(field, value);
      } catch (const Error& e) {
        throw bad_input("{} '{}': {}", what, spec.name, e.what());
      }
    }
    return recipe;
  }
  throw unknown_name(what, spec.name, names);
}

}  // namespace pits
