// Reads a JSON context value by value, without building a tree.
#include <limits>
#include <nlohmann/json.hpp>

#include "pits/schema/schema.h"

namespace pits {
namespace {

using Json = nlohmann::json;

class ContextReader : public nlohmann::json_sax<Json> {
 public:
  ContextReader(const Schema& schema, std::span<float> x) : schema_(schema), x_(x), seen_(schema.features(), 0) {}

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
    if (depth_ > 1) return true;  // inside a value
    feature_ = schema_.find(name);
    if (feature_ < seen_.size()) {
      if (seen_[feature_] != 0) throw bad_input("feature '{}' has two values", name);
      seen_[feature_] = 1;
    } else if (schema_.others() == Others::error) {
      throw unknown_feature(name);
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    throw bad_input("the context is not JSON: it is wrong at byte {}", position);
  }

  void finish() {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i] == 0) schema_.encode(i, NoValue{}, x_);
    }
  }

 private:
  bool begin(bool object) {
    if (depth_ == 0 && !object) throw not_an_object();
    if (depth_ == 1) take(Nested{});
    ++depth_;
    return true;
  }
  bool take(const FeatureValue& value) {
    if (depth_ == 0) throw not_an_object();
    if (depth_ == 1 && feature_ < seen_.size()) schema_.encode(feature_, value, x_);
    return true;
  }
  static Error not_an_object() { return bad_input("a context is a JSON object, e.g. {{\"age\": 31}}"); }
  Error unknown_feature(const std::string& name) const {
    constexpr std::size_t longest = 60, most = 50;
    if (name.size() > longest || schema_.features() > most) {
      return bad_input("the schema has no feature '{}'", name.substr(0, longest));
    }
    std::vector<std::string> known;
    for (std::size_t i = 0; i < schema_.features(); ++i) known.push_back(schema_.feature(i).name);
    return unknown_name("feature", name, known);
  }

  const Schema& schema_;
  std::span<float> x_;
  std::vector<std::uint8_t> seen_;
  std::size_t feature_ = 0;
  int depth_ = 0;
};

}  // namespace

void Schema::encode(std::string_view context, std::span<float> x) const {
  if (x.size() != width_) throw bad_input("a vector of this schema has {} numbers, not {}", width_, x.size());
  ContextReader reader(*this, x);
  Json::sax_parse(context, &reader);
  reader.finish();
}

}  // namespace pits
