#include "pits/core/fields.h"

#include <algorithm>
#include <charconv>

namespace pits {
namespace {

template <class Number>
Number parse_number(std::string_view text, std::string_view kind) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (text.empty() || status != std::errc{} || stop != end) {
    throw bad_input("must be {}, not '{}'", kind, text);
  }
  return value;
}

template <class Number>
void parse_list(std::string_view text, std::vector<Number>& out) {
  out.clear();
  if (text.empty() || text == "none") return;
  if (text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find_first_of(",x", start), text.size());
    std::string_view item = text.substr(start, comma - start);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    parse_value(item, out.emplace_back());
    start = comma + 1;
  }
}

template <class Number>
std::string format_list(const std::vector<Number>& xs) {
  return xs.empty() ? "none" : fmt::format("{}", fmt::join(xs, "x"));
}

}  // namespace

std::string Range::describe() const {
  const bool has_low = std::isfinite(low);
  const bool has_high = std::isfinite(high);
  if (has_low && has_high) return fmt::format("{} {} and at most {}", low_open ? "above" : "at least", low, high);
  if (has_low) return fmt::format("{} {}", low_open ? "above" : "at least", low);
  if (has_high) return fmt::format("at most {}", high);
  return "a finite number";
}

void parse_value(std::string_view text, int& out) { out = parse_number<int>(text, "a whole number"); }
void parse_value(std::string_view text, double& out) { out = parse_number<double>(text, "a number"); }
void parse_value(std::string_view text, float& out) { out = parse_number<float>(text, "a number"); }
void parse_value(std::string_view text, std::string& out) { out = std::string(text); }
void parse_value(std::string_view text, std::vector<int>& out) { parse_list(text, out); }
void parse_value(std::string_view text, std::vector<double>& out) { parse_list(text, out); }

void parse_value(std::string_view text, bool& out) {
  if (text != "true" && text != "false") throw bad_input("must be true or false, not '{}'", text);
  out = text == "true";
}

int parse_enum(std::string_view text, const std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) throw unknown_name("value", text, names);
  return static_cast<int>(found - names.begin());
}

std::string format_value(int x) { return fmt::format("{}", x); }
std::string format_value(double x) { return fmt::format("{}", x); }
std::string format_value(float x) { return fmt::format("{}", x); }
std::string format_value(bool x) { return x ? "true" : "false"; }
std::string format_value(const std::string& x) { return x; }
std::string format_value(const std::vector<int>& x) { return format_list(x); }
std::string format_value(const std::vector<double>& x) { return format_list(x); }

void check_value(double x, const Range& range) {
  if (!range.admits(x)) throw bad_input("must be {}, not {}", range.describe(), x);
}

void check_values(const std::vector<double>& xs, const Range& range) {
  for (const double x : xs) check_value(x, range);
}

Fields&& Fields::merge(Fields&& other) && {
  std::ranges::move(other.list_, std::back_inserter(list_));
  return std::move(*this);
}

bool Fields::has(std::string_view name) const { return std::ranges::find(list_, name, &Field::name) != list_.end(); }

void Fields::set(std::string_view name, std::string_view text) {
  const auto field = std::ranges::find(list_, name, &Field::name);
  if (field == list_.end()) {
    std::vector<std::string> names;
    std::ranges::transform(list_, std::back_inserter(names), &Field::name);
    throw unknown_name("field", name, names);
  }
  try {
    field->set(text);
    field->check();
  } catch (const Error& e) {
    throw bad_input("{}: {}", name, e.what());
  }
}

void Fields::check() const {
  for (const Field& field : list_) {
    try {
      field.check();
    } catch (const Error& e) {
      throw bad_input("{}: {}", field.name, e.what());
    }
  }
}

}  // namespace pits
