#include "pits/schema/schema.h"

#include <nlohmann/json.hpp>

#include "pits/core/fields.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

struct Parsed {
  std::vector<Feature> features;
  Others others = Others::error;
};

template <class T>
void read(const Json& json, const std::string& where, T& out) {
  try {
    if constexpr (std::is_enum_v<T>) {
      parse_value(json.get<std::string>(), out);
    } else {
      json.get_to(out);
    }
  } catch (const nlohmann::json::exception&) {
    throw bad_input("{} has a value of the wrong type", where);
  } catch (const Error& e) {
    throw bad_input("{}: {}", where, e.what());
  }
}

// JSON's numbers are signed or not, whole or not.
void read_count(const Json& json, const std::string& where, std::size_t& out) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() == 0 || json.get<std::uint64_t>() > most_columns) {
    throw bad_input("{} must be a whole number from 1 to {}", where, most_columns);
  }
  out = json.get<std::size_t>();
}

Feature feature_of(const Json& json, std::size_t position) {
  std::string where = fmt::format("feature {} of the schema", position + 1);
  if (!json.is_object()) throw bad_input("{} must be an object with a name and a kind", where);
  Feature f;
  if (!json.contains("name") || !json.contains("kind")) throw bad_input("{} needs a name and a kind", where);
  read(json["name"], where + ": \"name\"", f.name);
  where = fmt::format("feature '{}'", f.name);
  for (const auto& [key, value] : json.items()) {
    const std::string field = fmt::format("{}: \"{}\"", where, key);
    if (key == "kind") {
      read(value, field, f.kind);
    } else if (key == "levels") {
      read(value, field, f.levels);
    } else if (key == "buckets") {
      read_count(value, field, f.buckets);
    } else if (key == "zone") {
      read(value, field, f.zone);
    } else if (key == "missing") {
      read(value, field, f.missing);
    } else if (key == "unknown") {
      read(value, field, f.unknown);
    } else if (key != "name") {
      throw bad_input(
          "{}: {}", where,
          unknown_name("field", key, {"name", "kind", "levels", "buckets", "zone", "missing", "unknown"}).what());
    }
  }
  return f;
}

Parsed parse(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    throw bad_input("the schema is not JSON: {}", e.what());
  }
  if (!json.is_object() || !json.contains("features") || !json["features"].is_array()) {
    throw bad_input("a schema is a JSON object with a list of \"features\"");
  }
  Parsed parsed;
  for (const auto& [key, value] : json.items()) {
    if (key == "others") {
      read(value, "the schema's \"others\"", parsed.others);
    } else if (key != "features") {
      throw bad_input("the schema: {}", unknown_name("field", key, {"features", "others"}).what());
    }
  }
  for (const Json& feature : json["features"]) parsed.features.push_back(feature_of(feature, parsed.features.size()));
  return parsed;
}

}  // namespace

Schema::Schema(std::string_view json)
    : Schema([&] {
        Parsed parsed = parse(json);
        return Schema(std::move(parsed.features), parsed.others);
      }()) {}

Schema::Schema(std::vector<Feature> features, Others others) : others_(others) {
  if (features.empty()) throw bad_input("a schema needs at least one feature");
  for (Feature& feature : features) {
    if (!index_.emplace(feature.name, encoders_.size()).second) {
      throw bad_input("two features are called '{}'", feature.name);
    }
    encoders_.emplace_back(std::move(feature));
    starts_.push_back(width_);
    width_ += encoders_.back().width();
    if (width_ > most_columns) throw bad_input("a schema has at most {} columns", most_columns);
    for (std::string& name : encoders_.back().columns()) columns_.push_back(std::move(name));
  }
}

std::string Schema::text() const {
  Json json;
  json["features"] = Json::array();
  for (const FeatureEncoder& encoder : encoders_) {
    const Feature& f = encoder.feature();
    Json one = {{"name", f.name}, {"kind", format_value(f.kind)}};
    if (!f.levels.empty()) one["levels"] = f.levels;
    if (f.buckets > 0) one["buckets"] = f.buckets;
    if (!f.zone.empty()) one["zone"] = f.zone;
    one["missing"] = format_value(f.missing);
    one["unknown"] = format_value(f.unknown);
    json["features"].push_back(std::move(one));
  }
  json["others"] = format_value(others_);
  try {
    return json.dump();
  } catch (const nlohmann::json::exception&) {
    throw bad_input("the names and levels of a schema must be UTF-8 text");
  }
}

std::size_t Schema::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? encoders_.size() : found->second;
}

void Schema::encode(std::size_t feature, const FeatureValue& value, std::span<float> x) const {
  encoders_[feature].encode(value, x.subspan(starts_[feature], encoders_[feature].width()));
}

FeatureEntries Schema::entries(std::size_t feature, const FeatureValue& value) const {
  FeatureEntries entries = encoders_[feature].entries(value);
  for (std::size_t i = 0; i < entries.size; ++i) entries.list[i].first += starts_[feature];
  return entries;
}

std::vector<float> Schema::encode(std::string_view context) const {
  std::vector<float> x(width_);
  encode(context, x);
  return x;
}

}  // namespace pits
