// One feature of a named context: what values it takes, and which columns of the vector they become.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "pits/core/enum_names.h"
#include "pits/core/error.h"
#include "pits/schema/time_zone.h"

namespace pits {

enum class FeatureKind { number, category, boolean, time_of_day, time_of_week };
template <>
inline constexpr auto enum_names<FeatureKind> =
    std::array{"number", "category", "boolean", "time_of_day", "time_of_week"};

// What is done with a value that does not fit: an Error, or a column of its own that is 1.
enum class Otherwise { error, level };
template <>
inline constexpr auto enum_names<Otherwise> = std::array{"error", "level"};

struct NoValue {};
struct Nested {};  // a list or an object
using FeatureValue = std::variant<NoValue, bool, std::int64_t, double, std::string_view, Nested>;

struct Feature {
  std::string name;
  FeatureKind kind = FeatureKind::number;
  std::vector<std::string> levels{};     // of a category; empty: hashed
  std::size_t buckets = 0;               // of a hashed category
  std::string zone{};                    // of times
  Otherwise missing = Otherwise::error;  // no value
  Otherwise unknown = Otherwise::error;  // a level that is not listed, or a value of another type

  bool operator==(const Feature&) const = default;
};

// The numbers of an encoded value that may differ from 0, columns ascending.
struct FeatureEntries {
  std::array<std::pair<std::size_t, float>, 2> list{};  // column and number
  std::size_t size = 0;

  void add(std::size_t column, float number) { list[size++] = {column, number}; }
  auto begin() const { return list.begin(); }
  auto end() const { return list.begin() + static_cast<std::ptrdiff_t>(size); }
};

constexpr std::size_t most_columns = 100'000;  // of a feature, and of a schema

// Encodes the values of one feature.
//
//   number        its value
//   category      a column per level or per bucket, of which one is 1
//   boolean       0 or 1
//   time_of_day   sine and cosine of the local time as a part of the day
//   time_of_week  the same of the week
//   missing, unknown, where they are levels: a column each; the others are 0 then
class FeatureEncoder {
 public:
  // Throws where the fields contradict each other.
  explicit FeatureEncoder(Feature feature);

  const Feature& feature() const { return feature_; }
  std::vector<std::string> columns() const;  // their names
  std::size_t width() const { return width_; }
  // An Error names the feature and what it takes.
  FeatureEntries entries(const FeatureValue& value) const;
  void encode(const FeatureValue& value, std::span<float> out) const;  // the same as out, (width)

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::size_t value_width() const;
  bool encode_known(const FeatureValue& value, FeatureEntries& out) const;  // false: it does not fit
  bool encode_time(const FeatureValue& value, FeatureEntries& out) const;
  Error does_not_fit(const FeatureValue& value) const;

  Feature feature_;
  std::size_t width_ = 0;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> level_column_;
  std::shared_ptr<const TimeZone> zone_;
};

// The bucket of a hashed level: FNV-1a of 64 bits and the finaliser of MurmurHash3, modulo n. Never changes.
std::size_t bucket_of(std::string_view level, std::size_t buckets);

}  // namespace pits
