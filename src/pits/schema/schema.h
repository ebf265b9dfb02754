// The schema of named contexts: turns a JSON object into a vector of numbers.
//
//   {"features": [{"name": "age", "kind": "number", "missing": "level"},
//                 {"name": "country", "kind": "category", "levels": ["de", "fr"], "unknown": "level"},
//                 {"name": "page", "kind": "category", "buckets": 32},
//                 {"name": "member", "kind": "boolean"},
//                 {"name": "now", "kind": "time_of_day", "zone": "Europe/Berlin"}],
//    "others": "ignore"}
//
// A schema never changes: a bandit with another one is another bandit.
#pragma once

#include "pits/schema/feature.h"

namespace pits {

// What is done with values of a context that no feature takes.
enum class Others { error, ignore };
template <>
inline constexpr auto enum_names<Others> = std::array{"error", "ignore"};

class Schema {
 public:
  // An Error says what is wrong with the text, and names the feature.
  explicit Schema(std::string_view json);
  explicit Schema(std::vector<Feature> features, Others others = Others::error);

  // Every field spelled out, on one line: equal schemas have equal texts, and Schema(text()) is the same schema.
  std::string text() const;
  std::size_t width() const { return width_; }                          // d, the size of a vector
  const std::vector<std::string>& columns() const { return columns_; }  // (d) their names
  std::size_t features() const { return encoders_.size(); }

  // Fills x, (d). The context is a JSON object of plain values; null is no value. An Error names the feature.
  void encode(std::string_view context, std::span<float> x) const;
  std::vector<float> encode(std::string_view context) const;
  // One value of the feature at a position, into its part of x; or the entries of x that may differ from 0.
  void encode(std::size_t feature, const FeatureValue& value, std::span<float> x) const;
  FeatureEntries entries(std::size_t feature, const FeatureValue& value) const;
  // The feature of that name, or features(): none.
  std::size_t find(std::string_view name) const;
  Others others() const { return others_; }
  const Feature& feature(std::size_t i) const { return encoders_[i].feature(); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  Others others_;
  std::vector<FeatureEncoder> encoders_;
  std::vector<std::size_t> starts_;  // of the columns of each feature
  std::size_t width_ = 0;
  std::vector<std::string> columns_;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> index_;
};

}  // namespace pits
