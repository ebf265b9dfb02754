#include "pits/serve/requests.h"

#include <simdjson.h>

#include <cmath>

#include "pits/schema/context.h"

namespace pits {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t most_depth = 8;

dom::object parse_object(std::string_view body) {
  static_assert(simdjson::SIMDJSON_PADDING <= 64);
  thread_local dom::parser parser = [] {
    dom::parser made;
    if (made.allocate(4096, most_depth) != simdjson::SUCCESS) throw std::bad_alloc();
    return made;
  }();
  dom::element root;
  const bool in_place = false;  // the body is followed by the padding that simdjson needs
  if (const auto error = parser.parse(body.data(), body.size(), in_place).get(root)) {
    throw bad_input("the body is not JSON: {}", simdjson::error_message(error));
  }
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS) throw bad_input("the body is a JSON object, e.g. {{\"context\": ...}}");
  return object;
}

template <class T>
T get(const dom::element& value, std::string_view field, std::string_view what) {
  T result;
  if (value.get(result) != simdjson::SUCCESS) throw bad_input("'{}' is {}", field, what);
  return result;
}

float get_float(const dom::element& value, std::string_view field) {
  const auto number = static_cast<float>(get<double>(value, field, "a number"));
  if (!std::isfinite(number)) throw bad_input("'{}' is beyond the numbers of 32 bits", field);
  return number;
}

std::string get_text(const dom::element& value, std::string_view field) {
  return std::string(get<std::string_view>(value, field, "a text"));
}

std::vector<float> get_floats(const dom::element& value, std::string_view field, std::string_view what) {
  const auto list = get<dom::array>(value, field, what);
  std::vector<float> numbers;
  numbers.reserve(list.size());
  for (const dom::element number : list) numbers.push_back(get_float(number, field));
  return numbers;
}

FeatureValue feature_value(const dom::element& value) {
  switch (value.type()) {
    case dom::element_type::NULL_VALUE: return NoValue{};
    case dom::element_type::BOOL: return bool(value);
    case dom::element_type::INT64: return std::int64_t(value);
    case dom::element_type::UINT64: return static_cast<double>(std::uint64_t(value));
    case dom::element_type::DOUBLE: return double(value);
    case dom::element_type::STRING: return std::string_view(value);
    case dom::element_type::ARRAY:
    case dom::element_type::OBJECT: break;
  }
  return Nested{};
}

void read_context(const dom::element& value, const std::optional<Schema>& schema, DecideRequest& to) {
  if (!schema) {
    to.x = get_floats(value, "context", "a list of numbers, for this bandit has no schema");
    return;
  }
  to.x.resize(schema->width());
  ContextValues values(*schema, to.x);
  for (const auto [name, member] : get<dom::object>(value, "context", "an object of named values")) {
    values.name(name);
    values.value(feature_value(member));
  }
  values.finish();
  to.labels.context = simdjson::minify(value);
}

void read_features(const dom::element& value, DecideRequest& to) {
  for (const dom::element row : get<dom::array>(value, "features", "a list of lists of numbers")) {
    const std::vector<float> numbers = get_floats(row, "features", "a list of lists of numbers");
    if (to.candidates > 0 && numbers.size() * to.candidates != to.features.size()) {
      throw bad_input("'features' has rows of different lengths");
    }
    to.features.insert(to.features.end(), numbers.begin(), numbers.end());
    ++to.candidates;
  }
  if (to.features.empty()) throw bad_input("'features' is a list with a list of numbers per candidate");
}

void read_allowed(const dom::element& value, DecideRequest& to) {
  for (const dom::element name : get<dom::array>(value, "allowed", "a list of names of actions")) {
    to.labels.allowed.push_back(get_text(name, "allowed"));
  }
  if (to.labels.allowed.empty()) throw bad_input("'allowed' is empty: no action could be chosen");
}

DecideRequest read_one_decide(const dom::object& object, const std::optional<Schema>& schema,
                              std::size_t context_size) {
  DecideRequest to;
  bool context = false;
  for (const auto [name, value] : object) {
    if (name == "context") {
      read_context(value, schema, to);
      context = true;
    } else if (name == "allowed") {
      read_allowed(value, to);
    } else if (name == "key") {
      to.labels.key = get_text(value, name);
    } else if (name == "features") {
      read_features(value, to);
    } else {
      throw unknown_name("field", name, {"context", "allowed", "key", "features"});
    }
  }
  if (!context && context_size > 0) throw bad_input("'context' is missing");
  return to;
}

RewardRequest read_one_reward(const dom::object& object, bool with_value) {
  RewardRequest to;
  bool value_given = false;
  for (const auto [name, value] : object) {
    if (name == "id") {
      to.id = get<std::uint64_t>(value, name, "the id of a decision, a whole number");
    } else if (name == "decision") {
      to.decision = get_text(value, name);
    } else if (name == "token") {
      to.token = get_text(value, name);
    } else if (with_value && name == "value") {
      to.value = get_float(value, name);
      value_given = true;
    } else if (with_value && name == "key") {
      to.key = get_text(value, name);
    } else {
      using Names = std::vector<std::string>;
      throw unknown_name(
          "field", name,
          with_value ? Names{"id", "decision", "token", "value", "key"} : Names{"id", "decision", "token"});
    }
  }
  if (!to.id && to.decision.empty() && to.token.empty()) {
    throw bad_input("which decision? 'id', 'token' or 'decision' (the caller's key) is missing");
  }
  if (with_value && !value_given) throw bad_input("'value' is missing");
  return to;
}

// read(object) of the one or of each in the list of this name.
template <class Request, class Read>
OneOrMany<Request> read_all(const dom::object& object, std::string_view list_name, Read&& read) {
  OneOrMany<Request> all;
  dom::element list;
  if (object.at_key(list_name).get(list) != simdjson::SUCCESS) {
    all.requests.push_back(read(object));
    return all;
  }
  if (object.size() > 1) throw bad_input("'{}' stands alone", list_name);
  all.many = true;
  const auto members = get<dom::array>(list, list_name, "a list of objects");
  if (members.size() == 0 || members.size() > most_in_batch) {
    throw bad_input("'{}' has {} members; it may have 1 to {}", list_name, members.size(), most_in_batch);
  }
  for (const dom::element member : members) {
    try {
      all.requests.push_back(read(get<dom::object>(member, list_name, "a list of objects")));
    } catch (const Error& e) {
      throw Error(e.kind(), fmt::format("{}[{}]: {}", list_name, all.requests.size(), e.what()));
    }
  }
  return all;
}

}  // namespace

// The parser needs no stack for what is nested, but those who copy and print the value do.
nlohmann::json read_object(std::string_view body) {
  using Part = nlohmann::json::parse_event_t;
  const auto shallow = [](int outer, Part part, const nlohmann::json&) {
    const bool starts = part == Part::object_start || part == Part::array_start;
    if (starts && outer >= static_cast<int>(most_depth)) {
      throw bad_input("the body is nested deeper than {} levels", most_depth);
    }
    return true;
  };
  nlohmann::json json = nlohmann::json::parse(body, shallow, false);
  if (json.is_discarded()) throw bad_input("the body is not JSON");
  if (!json.is_object()) throw bad_input("the body is a JSON object, e.g. {{\"actions\": [\"a\", \"b\"]}}");
  return json;
}

ActionSet DecideRequest::actions() const {
  ActionSet set;
  if (candidates > 0) set.features = {features.data(), candidates, features.size() / candidates};
  return set;
}

OneOrMany<DecideRequest> read_decide(std::string_view body, const std::optional<Schema>& schema,
                                     std::size_t context_size) {
  return read_all<DecideRequest>(parse_object(body), "decisions", [&](const dom::object& object) {
    return read_one_decide(object, schema, context_size);
  });
}

OneOrMany<RewardRequest> read_rewards(std::string_view body) {
  return read_all<RewardRequest>(parse_object(body), "rewards",
                                 [](const dom::object& object) { return read_one_reward(object, true); });
}

RewardRequest read_decision(std::string_view body) { return read_one_reward(parse_object(body), false); }

}  // namespace pits
