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
  if (status == std::errc::result_out_of_range && stop == end) {
    using Limits = std::numeric_limits<Number>;
    throw bad_input("must be {} from {} to {}, not '{}'", kind, Limits::lowest(), Limits::max(), text);
  }
  if (text.empty() || status != std::errc{} || stop != end) {
    throw bad_input("must be {}, not '{}'", kind, text);
  }
  return value;
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

template <class Number>
void parse_list(std::string_view text, std::vector<Number>& out) {
  out.clear();
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  text = without_blanks(text);
  if (text.empty() || text == "none") return;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find_first_of(",x", start), text.size());
    parse_value(without_blanks(text.substr(start, comma - start)), out.emplace_back());
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
void parse_value(std::string_view text, std::int64_t& out) { out = parse_number<std::int64_t>(text, "a whole number"); }
void parse_value(std::string_view text, double& out) { out = parse_number<double>(text, "a number"); }
void parse_value(std::string_view text, float& out) { out = parse_number<float>(text, "a number"); }
void parse_value(std::string_view text, std::string& out) { out = std::string(text); }
void parse_value(std::string_view text, std::vector<int>& out) { parse_list(text, out); }
void parse_value(std::string_view text, std::vector<double>& out) { parse_list(text, out); }

void parse_value(std::string_view text, bool& out) {
  if (text != "true" && text != "false") throw bad_input("must be true or false, not '{}'", text);
  out = text == "true";
}

int parse_enum(std::string_view text, std::span<const char* const> names) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) throw unknown_name("value", text, {names.begin(), names.end()});
  return static_cast<int>(found - names.begin());
}

std::string format_value(int x) { return fmt::format("{}", x); }
std::string format_value(std::int64_t x) { return fmt::format("{}", x); }
std::string format_value(double x) { return fmt::format("{}", x); }
std::string format_value(float x) { return fmt::format("{}", x); }
std::string format_value(bool x) { return x ? "true" : "false"; }
std::string format_value(const std::string& x) { return x; }
std::string format_value(const std::vector<int>& x) { return format_list(x); }
std::string format_value(const std::vector<double>& x) { return format_list(x); }
std::string format_value(const std::vector<std::string>& x) { return fmt::format("{}", fmt::join(x, ", ")); }

void check_value(double x, const Range& range) {
  if (range.admits(x)) return;
  const bool one_sided = std::isfinite(range.low) != std::isfinite(range.high);
  throw bad_input("must be {}{}, not {}", range.describe(), one_sided && !std::isfinite(x) ? " and finite" : "", x);
}

void check_values(const std::vector<double>& xs, const Range& range) {
  for (const double x : xs) check_value(x, range);
}

Fields&& Fields::merge(Fields&& other) && {
  std::ranges::move(other.list_, std::back_inserter(list_));
  std::ranges::move(other.renamed_, std::back_inserter(renamed_));
  return std::move(*this);
}

Fields&& Fields::renamed(std::string before, std::string now) && {
  renamed_.emplace_back(std::move(before), std::move(now));
  return std::move(*this);
}

bool Fields::has(std::string_view name) const { return std::ranges::find(list_, name, &Field::name) != list_.end(); }

void Fields::set(std::string_view name, std::string_view text) {
  const auto field = std::ranges::find(list_, name, &Field::name);
  if (field == list_.end()) {
    for (const auto& [before, now] : renamed_) {
      if (before == name) throw bad_input("the field '{}' is called '{}' now", before, now);
    }
    std::vector<std::string> names;
    std::ranges::transform(list_, std::back_inserter(names), &Field::name);
    throw unknown_name("field", name, names);
  }
  try {
    field->set(text);
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
