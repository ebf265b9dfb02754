// CLI11 options with stricter parsing, and options that a list of fields makes.
#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "pits/core/fields.h"

namespace pits::cli {

// All of the text as a whole decimal number that Number can hold; 010 is refused, for it is 8 to some and 10 to others.
template <class Number>
Number whole_number(const std::string& option, const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const bool padded = text.size() > first + 1 && text[first] == '0';
  if (status == std::errc{} && stop == end && !padded) return number;
  using Limits = std::numeric_limits<Number>;
  throw CLI::ValidationError(fmt::format("{} = {} must be a whole number from {} to {}, in decimal digits", option,
                                         text.empty() ? "''" : text, Limits::min(), Limits::max()));
}

// An option for a whole number; `into` is an integer, or an optional one that stays empty without the option.
template <class Into>
CLI::Option* add_whole(CLI::App& command, const std::string& name, Into& into, const std::string& text) {
  const auto set = [&into, name](const std::string& word) {
    if constexpr (requires { into.value(); }) {
      into = whole_number<typename Into::value_type>(name, word);
    } else {
      into = whole_number<Into>(name, word);
    }
  };
  return command.add_option_function<std::string>(name, set, text)->type_name("INT");
}

// An option for text that is never empty: an empty word is a shell's variable that was not set.
inline CLI::Option* add_text(CLI::App& command, const std::string& name, std::function<void(const std::string&)> take,
                             const std::string& text) {
  const auto set = [take = std::move(take), name](const std::string& word) {
    if (word.empty()) throw CLI::ValidationError(fmt::format("{} is empty: it needs a value", name));
    take(word);
  };
  return command.add_option_function<std::string>(name, set, text);
}
inline CLI::Option* add_text(CLI::App& command, const std::string& name, std::string& into, const std::string& text) {
  return add_text(
      command, name, [&into](const std::string& word) { into = word; }, text);
}

// The name of a field as an option without its dashes and as a key of a TOML file: set-env.
std::string key_of(const Field& field);

// One option per field, and what the command line gave for it. It is applied when the command runs, since a TOML file
// comes first, wherever --config stands.
class FieldOptions {
 public:
  // --agent for agents, --set-env for set_env; the help names the default that the field has now.
  void add(CLI::App& command, const Field& field);
  // As if the command line had given this word.
  void give(const std::string& field, const std::string& word) { given_[field].push_back(word); }
  bool has(const std::string& field) const { return given_.contains(field); }
  const std::vector<std::string>& words(const std::string& field) const { return given_.at(field); }
  // Lists grow, other fields are set.
  void apply(Fields fields) const;

 private:
  std::map<std::string, std::vector<std::string>> given_;
};

}  // namespace pits::cli
