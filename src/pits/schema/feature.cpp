#include "pits/schema/feature.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "pits/core/error.h"
#include "pits/schema/timestamp.h"

namespace pits {
namespace {

constexpr std::int64_t day_seconds = 86400, week_seconds = 7 * day_seconds;
constexpr std::int64_t monday = 4 * day_seconds;  // 1970-01-05, the first one

constexpr std::size_t longest_shown = 60, most_shown = 50;  // letters and levels

std::string shown(const FeatureValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    return fmt::format("the text '{}'{}", text->substr(0, longest_shown), text->size() > longest_shown ? "..." : "");
  }
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return std::holds_alternative<Nested>(value) ? "a list or an object" : "nothing";
}

std::optional<double> number_of(const FeatureValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

// A category's level: text, or a whole number such as that of a shop. JSON has no other numbers than 3 = 3.0, and a
// table with missing values holds whole numbers as floating point.
std::optional<std::string> level_of(const FeatureValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return std::string(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  const auto* real = std::get_if<double>(&value);
  constexpr double exact = 9007199254740992.0;  // 2^53: whole numbers up to here are themselves
  if (real == nullptr || std::floor(*real) != *real || std::abs(*real) > exact) return std::nullopt;
  return fmt::format("{}", static_cast<std::int64_t>(*real));
}

bool is_time(FeatureKind kind) { return kind == FeatureKind::time_of_day || kind == FeatureKind::time_of_week; }

void check(const Feature& f) {
  const auto wrong = [&](std::string_view what) { return bad_input("feature '{}': {}", f.name, what); };
  if (f.name.empty()) throw bad_input("a feature needs a name");
  const bool category = f.kind == FeatureKind::category;
  if (category && f.levels.empty() == (f.buckets == 0)) throw wrong("a category has either levels or buckets");
  if (!category && (!f.levels.empty() || f.buckets > 0)) throw wrong("only a category has levels or buckets");
  if (f.levels.size() > most_columns || f.buckets > most_columns) {
    throw bad_input("feature '{}': a category has at most {} levels or buckets", f.name, most_columns);
  }
  if (is_time(f.kind) && f.zone.empty()) throw wrong("a time needs its zone, e.g. Europe/Berlin or UTC");
  if (!is_time(f.kind) && !f.zone.empty()) throw wrong("only a time has a zone");
}

}  // namespace

std::size_t bucket_of(std::string_view level, std::size_t buckets) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const char c : level) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  // FNV's low bits follow from the low bits of the characters alone.
  h = (h ^ h >> 33U) * 0xff51afd7ed558ccdU;
  h = (h ^ h >> 33U) * 0xc4ceb9fe1a85ec53U;
  return (h ^ h >> 33U) % buckets;
}

FeatureEncoder::FeatureEncoder(Feature feature) : feature_(std::move(feature)) {
  check(feature_);
  for (const std::string& level : feature_.levels) {
    if (!level_column_.emplace(level, level_column_.size()).second) {
      throw bad_input("feature '{}': two levels are called '{}'", feature_.name, level);
    }
  }
  if (is_time(feature_.kind)) {
    try {
      zone_ = std::make_shared<const TimeZone>(TimeZone::load(feature_.zone));
    } catch (const Error& e) {
      throw Error(e.kind(), fmt::format("feature '{}': {}", feature_.name, e.what()));
    }
  }
  width_ =
      value_width() + (feature_.missing == Otherwise::level ? 1 : 0) + (feature_.unknown == Otherwise::level ? 1 : 0);
}

std::size_t FeatureEncoder::value_width() const {
  if (is_time(feature_.kind)) return 2;
  return feature_.kind == FeatureKind::category ? std::max(feature_.levels.size(), feature_.buckets) : 1;
}

std::vector<std::string> FeatureEncoder::columns() const {
  std::vector<std::string> names;
  const std::string& name = feature_.name;
  for (const std::string& level : feature_.levels) names.push_back(name + "=" + level);
  for (std::size_t i = 0; i < feature_.buckets; ++i) names.push_back(fmt::format("{}#{}", name, i));
  if (is_time(feature_.kind)) {
    names.push_back("sin(" + name + ")");
    names.push_back("cos(" + name + ")");
  } else if (feature_.kind != FeatureKind::category) {
    names.push_back(name);
  }
  if (feature_.missing == Otherwise::level) names.push_back(name + " is missing");
  if (feature_.unknown == Otherwise::level) names.push_back(name + " is unknown");
  return names;
}

FeatureEntries FeatureEncoder::entries(const FeatureValue& value) const {
  FeatureEntries out;
  if (std::holds_alternative<NoValue>(value)) {
    if (feature_.missing == Otherwise::error) {
      throw bad_input("feature '{}' is missing; the schema can allow it by \"missing\": \"level\"", feature_.name);
    }
    out.add(value_width(), 1.0F);
  } else if (!encode_known(value, out)) {
    if (feature_.unknown == Otherwise::error) throw does_not_fit(value);
    out.add(width_ - 1, 1.0F);
  }
  return out;
}

void FeatureEncoder::encode(const FeatureValue& value, std::span<float> out) const {
  std::ranges::fill(out, 0.0F);
  for (const auto& [column, number] : entries(value)) out[column] = number;
}

bool FeatureEncoder::encode_known(const FeatureValue& value, FeatureEntries& out) const {
  switch (feature_.kind) {
    case FeatureKind::number: {
      const auto number = number_of(value);
      if (!number || !(std::abs(*number) <= std::numeric_limits<float>::max())) return false;
      out.add(0, static_cast<float>(*number));
      return true;
    }
    case FeatureKind::boolean: {
      const auto* flag = std::get_if<bool>(&value);
      if (flag != nullptr) out.add(0, *flag ? 1.0F : 0.0F);
      return flag != nullptr;
    }
    case FeatureKind::category: {
      const std::optional<std::string> level = level_of(value);
      if (!level) return false;
      if (feature_.buckets > 0) {
        out.add(bucket_of(*level, feature_.buckets), 1.0F);
        return true;
      }
      const auto found = level_column_.find(*level);
      if (found != level_column_.end()) out.add(found->second, 1.0F);
      return found != level_column_.end();
    }
    case FeatureKind::time_of_day:
    case FeatureKind::time_of_week: return encode_time(value, out);
  }
  return false;
}

bool FeatureEncoder::encode_time(const FeatureValue& value, FeatureEntries& out) const {
  std::optional<std::int64_t> utc;
  if (const auto* text = std::get_if<std::string_view>(&value)) utc = parse_timestamp(*text);
  const auto number = number_of(value);
  if (number && *number >= static_cast<double>(first_second) && *number <= static_cast<double>(last_second)) {
    utc = static_cast<std::int64_t>(std::floor(*number));
  }
  if (!utc) return false;
  const std::int64_t period = feature_.kind == FeatureKind::time_of_day ? day_seconds : week_seconds;
  const std::int64_t local = *utc + zone_->offset(*utc) - monday;
  const std::int64_t second = (local % period + period) % period;
  const double angle = 2.0 * std::numbers::pi * static_cast<double>(second) / static_cast<double>(period);
  out.add(0, static_cast<float>(std::sin(angle)));
  out.add(1, static_cast<float>(std::cos(angle)));
  return true;
}

Error FeatureEncoder::does_not_fit(const FeatureValue& value) const {
  const auto must_be = [&](std::string_view what) {
    return bad_input("feature '{}' must be {}, not {}", feature_.name, what, shown(value));
  };
  switch (feature_.kind) {
    case FeatureKind::number: return must_be("a number that float32 can hold");
    case FeatureKind::boolean: return must_be("true or false");
    case FeatureKind::time_of_day:
    case FeatureKind::time_of_week:
      return must_be("a time: seconds since 1970, or text such as 2026-11-17T10:18:57Z or ...+01:00");
    case FeatureKind::category: break;
  }
  const auto* text = std::get_if<std::string_view>(&value);
  if (!level_of(value) || feature_.buckets > 0) return must_be("text or a whole number");
  if (text == nullptr || text->size() > longest_shown || feature_.levels.size() > most_shown) {
    return must_be(fmt::format("one of its {} levels", feature_.levels.size()));
  }
  return bad_input("feature '{}': {}", feature_.name, unknown_name("level", *text, feature_.levels).what());
}

}  // namespace pits
