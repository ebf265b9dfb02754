#include <algorithm>
#include <nlohmann/json.hpp>

#include "pits/evaluate/read/read_log.h"
#include "pits/evaluate/read/sparse_rows.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

// Numbers are features; words and true are 1 in a column of their own; lists and objects go down a level. Names that
// begin with an underscore are not features.
void flatten(const Json& json, const std::string& name, SparseRows& rows, SparseRows::Row& out) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if (!key.starts_with("_")) flatten(value, name.empty() ? key : name + "." + key, rows, out);
    }
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) flatten(json[i], fmt::format("{}[{}]", name, i), rows, out);
  } else if (json.is_number()) {
    out.emplace_back(rows.column(name), json.get<float>());
  } else if (json.is_string()) {
    out.emplace_back(rows.column(name + "=" + json.get<std::string>()), 1.0F);
  } else if (json.is_boolean() && json.get<bool>()) {
    out.emplace_back(rows.column(name), 1.0F);
  }
}

struct SparseRound {
  RoundRow row;
  SparseRows::Row shared;
  std::vector<SparseRows::Row> actions;
  std::size_t line = 0;
};

class DecisionService {
 public:
  void add(const Json& json, const Place& place) {
    if (!json.is_object()) throw place.wrong("a line must be an object");
    if (!json.contains("c")) {
      ++dangling_;
      return;
    }
    if (number(json, "pdrop", 0.0, place) != 0.0)
      throw place.wrong("\"pdrop\" is not 0: rounds were dropped by chance");
    SparseRound round{.row = {}, .shared = {}, .actions = {}, .line = place.line};
    const std::vector<Json> multi = json["c"].value("_multi", std::vector<Json>());
    if (multi.empty()) throw place.wrong("\"c\" has no \"_multi\", the list of actions");
    flatten(json["c"], "", shared_, round.shared);
    for (const Json& action : multi) flatten(action, "", actions_, round.actions.emplace_back());
    round.row.reward = -number(json, "_label_cost", {}, place);
    round.row.propensity = number(json, "_label_probability", {}, place);
    const double index = json.contains("_labelIndex") ? number(json, "_labelIndex", {}, place)
                                                      : number(json, "_label_Action", {}, place) - 1.0;
    if (!(index >= 0.0 && index < static_cast<double>(multi.size()))) {
      throw place.wrong("the label is action {} of {}", index + 1.0, multi.size());
    }
    round.row.action = static_cast<Action>(index);
    if (json.contains("a") && json.contains("p")) add_propensities(json, multi.size(), round, place);
    rounds_.push_back(std::move(round));
  }

  LoggedData finish(const std::string& file, const LogOptions& options) {
    std::size_t K = 0;
    for (const SparseRound& round : rounds_) K = std::max(K, round.actions.size());
    check_dense(file, rounds_.size(), shared_.width() + K * actions_.width());
    std::vector<std::string> names = options.actions;
    for (std::size_t a = names.size(); a < K; ++a) names.push_back(std::to_string(a));
    const bool all = std::ranges::all_of(rounds_, [](const SparseRound& r) { return !r.row.propensities.empty(); });
    LogBuilder builder(names, options.reward_range);
    builder.set_context_names(shared_.names());
    for (SparseRound& round : rounds_) {
      const Place place{file, round.line};
      round.row.x = shared_.dense(round.shared);
      if (round.actions.size() < names.size()) {
        round.row.allowed.assign(names.size(), 0);
        std::fill_n(round.row.allowed.begin(), round.actions.size(), 1);
      }
      round.row.propensities.resize(all ? names.size() : 0, 0.0);
      round.actions.resize(names.size());
      for (const SparseRows::Row& action : round.actions) {
        const std::vector<float> z = actions_.dense(action);
        round.row.features.insert(round.row.features.end(), z.begin(), z.end());
      }
      builder.add(std::move(round.row), place);
    }
    builder.counts().dangling = dangling_;
    return builder.finish(file);
  }

 private:
  static double number(const Json& json, const std::string& key, std::optional<double> missing, const Place& place) {
    if (!json.contains(key) && missing) return *missing;
    if (!json.contains(key)) throw place.wrong("no \"{}\"", key);
    if (!json[key].is_number())
      throw place.wrong("\"{}\" must be a number, not {}", key, json[key].dump().substr(0, 60));
    return json[key].get<double>();
  }

  // p[i] is the probability of action a[i], which counts from 1.
  static void add_propensities(const Json& json, std::size_t K, SparseRound& round, const Place& place) {
    const auto a = json["a"].get<std::vector<std::size_t>>();
    const auto p = json["p"].get<std::vector<double>>();
    if (a.size() != p.size() || a.size() != K) {
      throw place.wrong("{} actions need as many entries of \"a\" and \"p\", not {} and {}", K, a.size(), p.size());
    }
    round.row.propensities.assign(K, 0.0);
    for (std::size_t i = 0; i < K; ++i) {
      if (a[i] < 1 || a[i] > K) throw place.wrong("\"a\" must hold actions from 1 to {}, not {}", K, a[i]);
      round.row.propensities[a[i] - 1] = p[i];
    }
  }

  SparseRows shared_, actions_;
  std::vector<SparseRound> rounds_;
  std::uint64_t dangling_ = 0;
};

}  // namespace

LoggedData read_dsjson_log(const std::filesystem::path& path, const LogOptions& options) {
  DecisionService service;
  for_each_line(path, [&](std::string_view line, const Place& place) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    try {
      service.add(Json::parse(line), place);
    } catch (const nlohmann::json::exception& e) {
      throw place.wrong("not decision service JSON: {}", e.what());
    }
    options.read(1);
  });
  return service.finish(path.string(), options);
}

}  // namespace pits
