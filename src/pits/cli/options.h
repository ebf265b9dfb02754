// Options whose values the library for command lines would take too lightly.
#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <limits>
#include <string>

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
inline CLI::Option* add_text(CLI::App& command, const std::string& name, std::string& into, const std::string& text) {
  const auto set = [&into, name](const std::string& word) {
    if (word.empty()) throw CLI::ValidationError(fmt::format("{} is empty: it needs a value", name));
    into = word;
  };
  return command.add_option_function<std::string>(name, set, text);
}

}  // namespace pits::cli
