#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "pits/evaluate/read/read_log.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

double number(const Json& json, std::string_view what, const Place& place) {
  if (!json.is_number()) throw place.wrong("{} must be a number, not {}", what, json.dump().substr(0, 60));
  return json.get<double>();
}

std::string name_of(const Json& json, const Place& place) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_unsigned()) return std::to_string(json.get<std::uint64_t>());
  throw place.wrong("the action must be a name or a number from 0, not {}", json.dump().substr(0, 60));
}

class JsonLines {
 public:
  explicit JsonLines(const LogOptions& options)
      : options_(options),
        known_{options.action, options.reward, options.propensity, "propensities",
               "allowed",      "context",      "policies",         "means"},
        builder_(options.actions, options.reward_range) {}

  void add(const Json& json, const Place& place) {
    if (!json.is_object()) throw place.wrong("a line must be an object: {{\"action\": ...}}");
    for (const auto& [key, value] : json.items()) {
      if (std::ranges::find(known_, key) == known_.end()) {
        throw place.wrong("{}", unknown_name("key", key, known_).what());
      }
    }
    RoundRow row;
    // Lists by name come first, so that the order of actions is theirs.
    row.propensities = list(json, "propensities", place);
    row.means = list(json, "means", place);
    add_mask(json, row, place);
    row.action = builder_.action(name_of(required(json, options_.action, place), place), place);
    row.reward = number(required(json, options_.reward, place), "the reward", place);
    if (json.contains(options_.propensity) && !json[options_.propensity].is_null()) {
      row.propensity = number(json[options_.propensity], "the propensity", place);
    }
    add_context(json, row, place);
    add_policies(json, row, place);
    builder_.add(std::move(row), place);
  }

  LoggedData finish(const std::string& file) { return builder_.finish(file); }

 private:
  static const Json& required(const Json& json, const std::string& key, const Place& place) {
    if (!json.contains(key) || json[key].is_null()) throw place.wrong("no \"{}\"", key);
    return json[key];
  }

  std::vector<double> list(const Json& json, const std::string& key, const Place& place) {
    return json.contains(key) ? values(json[key], key, place) : std::vector<double>();
  }

  // Numbers for every action: a list in their order, or an object with their names.
  std::vector<double> values(const Json& json, const std::string& key, const Place& place) {
    std::vector<double> out;
    if (json.is_array()) {
      for (const Json& value : json) out.push_back(number(value, key, place));
      if (builder_.K() == 0) {
        for (std::size_t a = 0; a < out.size(); ++a) builder_.action(std::to_string(a), place);
        builder_.close_actions();
      }
      return out;
    }
    if (!json.is_object()) throw place.wrong("\"{}\" must be a list, or an object by names of actions", key);
    if (builder_.K() == 0) {
      for (const auto& [name, value] : json.items()) builder_.action(name, place);
      builder_.close_actions();
    }
    out.assign(builder_.K(), 0.0);
    for (const auto& [name, value] : json.items()) out[builder_.action(name, place)] = number(value, key, place);
    return out;
  }

  // A list of 0 and 1, or of names.
  void add_mask(const Json& json, RoundRow& row, const Place& place) {
    if (!json.contains("allowed") || json["allowed"].is_null()) return;
    const Json& mask = json["allowed"];
    if (!mask.is_array()) throw place.wrong("\"allowed\" must be a list of names, or of 0 and 1");
    const bool names = !mask.empty() && mask[0].is_string();
    if (builder_.K() == 0 && names) throw place.wrong("names in \"allowed\" need a list of all actions (--actions)");
    if (builder_.K() == 0) {
      for (std::size_t a = 0; a < mask.size(); ++a) builder_.action(std::to_string(a), place);
      builder_.close_actions();
    }
    if (names) row.allowed.assign(builder_.K(), 0);
    for (const Json& one : mask) {
      if (names) {
        row.allowed[builder_.action(name_of(one, place), place)] = 1;
      } else {
        row.allowed.push_back(one.is_boolean() ? one.get<bool>() : number(one, "allowed", place) != 0.0);
      }
    }
  }

  void add_context(const Json& json, RoundRow& row, const Place& place) {
    if (!json.contains("context")) return;
    const Json& context = json["context"];
    if (context.is_array()) {
      for (const Json& value : context) row.x.push_back(static_cast<float>(number(value, "the context", place)));
      return;
    }
    if (!context.is_object()) throw place.wrong("\"context\" must be a list of numbers, or an object of them");
    if (context_names_.empty()) {
      for (const auto& [name, value] : context.items()) context_names_.push_back(name);
      builder_.set_context_names(context_names_);
    }
    for (const std::string& name : context_names_) {
      if (!context.contains(name)) throw place.wrong("the context has no \"{}\"", name);
      row.x.push_back(static_cast<float>(number(context[name], name, place)));
    }
    if (context.size() != context_names_.size()) {
      throw place.wrong("the context has {} names, but {} before", context.size(), context_names_.size());
    }
  }

  void add_policies(const Json& json, RoundRow& row, const Place& place) {
    if (first_ && json.contains("policies")) {
      for (const auto& [name, value] : json["policies"].items()) policies_.push_back(name);
      builder_.set_policies(policies_);
    }
    first_ = false;
    for (const std::string& name : policies_) {
      if (!json.contains("policies") || !json["policies"].contains(name)) {
        throw place.wrong("no probabilities of policy '{}'", name);
      }
      row.policies.push_back(values(json["policies"][name], name, place));
    }
  }

  const LogOptions& options_;
  std::vector<std::string> known_;
  LogBuilder builder_;
  bool first_ = true;
  std::vector<std::string> context_names_, policies_;
};

}  // namespace

LoggedData read_jsonl_log(const std::filesystem::path& path, const LogOptions& options) {
  JsonLines lines(options);
  for_each_line(path, [&](std::string_view line, const Place& place) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    try {
      lines.add(Json::parse(line), place);
    } catch (const nlohmann::json::exception& e) {
      throw place.wrong("not JSON: {}", e.what());
    }
    options.read(1);
  });
  return lines.finish(path.string());
}

}  // namespace pits
