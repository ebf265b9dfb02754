// The list of a config's fields: one list serves the command line, TOML, the resolved config of a run directory, and
// the checks of its values.
//
//   struct LinTsConfig { double lambda = 0.25; int initial_pulls = 2; };
//   Fields fields(LinTsConfig& c) {
//     return Fields{}
//         .add("lambda", c.lambda, "prior precision", above(0))
//         .add("initial_pulls", c.initial_pulls, "forced pulls of each action", at_least(0));
//   }
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "pits/core/enum_names.h"
#include "pits/core/error.h"

namespace pits {

// The numbers a field admits.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;

  bool admits(double x) const { return std::isfinite(x) && (low_open ? x > low : x >= low) && x <= high; }
  std::string describe() const;  // "at least 1", "above 0 and at most 1"
};

inline Range any_number() { return {}; }
inline Range at_least(double low) { return {.low = low}; }
inline Range above(double low) { return {.low = low, .low_open = true}; }
inline Range between(double low, double high) { return {.low = low, .high = high}; }

// Text to value and back. Throw an Error that says what would be right, without naming the field.
void parse_value(std::string_view text, int& out);
void parse_value(std::string_view text, std::int64_t& out);
void parse_value(std::string_view text, double& out);
void parse_value(std::string_view text, float& out);
void parse_value(std::string_view text, bool& out);
void parse_value(std::string_view text, std::string& out);
void parse_value(std::string_view text, std::vector<int>& out);  // "50x50"; "" or "none" is empty
void parse_value(std::string_view text, std::vector<double>& out);
int parse_enum(std::string_view text, std::span<const char* const> names);

std::string format_value(int x);
std::string format_value(std::int64_t x);
std::string format_value(double x);
std::string format_value(float x);
std::string format_value(bool x);
std::string format_value(const std::string& x);
std::string format_value(const std::vector<int>& x);
std::string format_value(const std::vector<double>& x);
std::string format_value(const std::vector<std::string>& x);  // for a person: joined by ", "

template <class E>
requires std::is_enum_v<E>
void parse_value(std::string_view text, E& out) { out = static_cast<E>(parse_enum(text, enum_names<E>)); }

template <class E>
requires std::is_enum_v<E> std::string format_value(E x) { return enum_names<E>.at(static_cast<std::size_t>(x)); }

void check_value(double x, const Range& range);  // throws "must be at least 1, not 0"
void check_values(const std::vector<double>& xs, const Range& range);

// What a value is; `other` has a text form of its own.
enum class FieldType { flag, whole, number, text, wholes, numbers, choice, other, texts };

struct Field {
  std::string name;
  std::string doc;
  FieldType type;
  std::vector<std::string> choices;  // of a choice
  // Parses and checks; a refused text leaves the value as it was. A list of texts takes the text as one more.
  std::function<void(std::string_view)> set;
  std::function<std::string()> get;
  std::function<void()> check;
};

class Fields {
 public:
  template <class T>
  Fields& add(std::string name, T& value, std::string doc, Range range = any_number()) & {
    Field field{.name = std::move(name),
                .doc = std::move(doc),
                .type = type_of<T>(),
                .choices = {},
                .set = {},
                .get = {},
                .check = {}};
    if constexpr (std::is_enum_v<T>) field.choices.assign(enum_names<T>.begin(), enum_names<T>.end());
    field.set = [&value, range](std::string_view text) {
      if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        value.emplace_back(text);
      } else {
        T parsed{};
        parse_value(text, parsed);
        check_field(parsed, range);
        value = std::move(parsed);
      }
    };
    field.get = [&value] { return format_value(value); };
    field.check = [&value, range] { check_field(value, range); };
    list_.push_back(std::move(field));
    return *this;
  }
  template <class T>
  Fields&& add(std::string name, T& value, std::string doc, Range range = any_number()) && {
    return std::move(this->add(std::move(name), value, std::move(doc), range));
  }
  Fields&& merge(Fields&& other) &&;
  // A name that a field had before: setting it is an Error that gives the new one.
  Fields&& renamed(std::string before, std::string now) &&;

  const std::vector<Field>& list() const& { return list_; }
  std::vector<Field> list() && { return std::move(list_); }  // for (const Field& f : fields(config).list())
  bool has(std::string_view name) const;
  // Parses and checks; an unknown name gets a "did you mean", a bad value names the field.
  void set(std::string_view name, std::string_view text);
  // Checks every value: for configs made in C++ rather than from text.
  void check() const;

 private:
  template <class T>
  static constexpr FieldType type_of() {
    if constexpr (std::is_same_v<T, bool>) return FieldType::flag;
    if constexpr (std::is_enum_v<T>) return FieldType::choice;
    if constexpr (std::is_integral_v<T>) return FieldType::whole;
    if constexpr (std::is_floating_point_v<T>) return FieldType::number;
    if constexpr (std::is_same_v<T, std::string>) return FieldType::text;
    if constexpr (std::is_same_v<T, std::vector<int>>) return FieldType::wholes;
    if constexpr (std::is_same_v<T, std::vector<double>>) return FieldType::numbers;
    if constexpr (std::is_same_v<T, std::vector<std::string>>) return FieldType::texts;
    return FieldType::other;
  }

  template <class T>
  static void check_field(const T& value, const Range& range) {
    if constexpr (std::is_same_v<T, bool>) {
      return;
    } else if constexpr (std::is_arithmetic_v<T>) {
      check_value(static_cast<double>(value), range);
    } else if constexpr (requires { requires std::is_arithmetic_v<typename T::value_type>; } &&
                         !std::is_same_v<T, std::string>) {
      check_values(std::vector<double>(value.begin(), value.end()), range);
    }
  }

  std::vector<Field> list_;
  std::vector<std::pair<std::string, std::string>> renamed_;  // before, now
};

// A config whose values all pass the checks of its list of fields, or an Error.
template <class Config>
Config checked(Config config) {
  fields(config).check();
  return config;
}

}  // namespace pits
