#include "pits/schema/context.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "pits/core/beginning.h"

namespace pits {

ContextValues::ContextValues(const Schema& schema, std::span<float> x)
    : schema_(schema), x_(x), seen_(schema.features(), 0) {
  if (x.size() != schema.width()) {
    throw bad_input("a vector of this schema has {} numbers, not {}", schema.width(), x.size());
  }
}

void ContextValues::name(std::string_view name) {
  feature_ = schema_.find(name);
  if (feature_ < seen_.size()) {
    if (seen_[feature_] != 0) throw bad_input("feature '{}' has two values", name);
    seen_[feature_] = 1;
  } else if (schema_.others() == Others::error) {
    throw unknown_feature(name);
  }
}

void ContextValues::value(const FeatureValue& value) {
  if (feature_ < seen_.size()) schema_.encode(feature_, value, x_);
}

void ContextValues::finish() {
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    if (seen_[i] == 0) schema_.encode(i, NoValue{}, x_);
  }
}

Error ContextValues::unknown_feature(std::string_view name) const {
  constexpr std::size_t most = 50;
  const std::string_view shown = beginning(name);
  if (shown != name || schema_.features() > most) return bad_input("the schema has no feature '{}'", shown);
  std::vector<std::string> known;
  for (std::size_t i = 0; i < schema_.features(); ++i) known.push_back(schema_.feature(i).name);
  return unknown_name("feature", name, known);
}

namespace {

using Json = nlohmann::json;

// Reads a JSON context value by value, without building a tree.
class ContextReader : public nlohmann::json_sax<Json> {
 public:
  ContextReader(const Schema& schema, std::span<float> x) : values_(schema, x) {}

  bool null() override { return take(NoValue{}); }
  bool boolean(bool value) override { return take(value); }
  bool number_integer(std::int64_t value) override { return take(value); }
  bool number_unsigned(std::uint64_t value) override {
    if (value <= std::numeric_limits<std::int64_t>::max()) return take(static_cast<std::int64_t>(value));
    return take(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) override { return take(value); }
  bool string(std::string& value) override { return take(std::string_view(value)); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return begin(true); }
  bool start_array(std::size_t) override { return begin(false); }
  bool end_object() override { return --depth_ >= 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool key(std::string& name) override {
    if (depth_ == 1) values_.name(name);  // deeper: inside a value
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    throw bad_input("the context is not JSON: it is wrong at byte {}", position);
  }
  void finish() { values_.finish(); }

 private:
  bool begin(bool object) {
    if (depth_ == 0 && !object) throw not_an_object();
    if (depth_ == 1) take(Nested{});
    ++depth_;
    return true;
  }
  bool take(const FeatureValue& value) {
    if (depth_ == 0) throw not_an_object();
    if (depth_ == 1) values_.value(value);
    return true;
  }
  static Error not_an_object() { return bad_input("a context is a JSON object, e.g. {{\"age\": 31}}"); }

  ContextValues values_;
  int depth_ = 0;
};

}  // namespace

void Schema::encode(std::string_view context, std::span<float> x) const {
  ContextReader reader(*this, x);
  Json::sax_parse(context, &reader);
  reader.finish();
}

}  // namespace pits
