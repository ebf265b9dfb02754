#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "pits/core/fields.h"
#include "pits/evaluate/evaluation_json.h"
#include "pits/report/evaluation_report.h"
#include "pits/report/page.h"
#include "pits/version.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t bins = 10;

struct Mean {
  double n = 0.0, sum = 0.0, squares = 0.0;

  void add(double v) { n += 1.0, sum += v, squares += v * v; }
  double value() const { return n > 0.0 ? sum / n : 0.0; }
  double error() const { return n > 1.0 ? std::sqrt(std::max(0.0, squares / n - value() * value()) / (n - 1.0)) : 0.0; }
  Json json() const { return {{"rounds", n}, {"mean", value()}, {"error", error()}}; }
};

// Rewards by ten groups of rounds of growing `by`; equal values are never parted.
Json by_groups(std::span<const double> by, std::span<const double> rewards) {
  std::vector<std::size_t> order(by.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return by[i]; });
  Json list = Json::array();
  for (std::size_t from = 0; from < order.size();) {
    const std::size_t left = bins > list.size() ? bins - list.size() : 1;
    std::size_t to = std::min(order.size(), from + (order.size() - from + left - 1) / left);
    while (to < order.size() && by[order[to]] == by[order[to - 1]]) ++to;
    Mean reward, place;
    for (std::size_t k = from; k < to; ++k) {
      reward.add(rewards[order[k]]);
      place.add(by[order[k]]);
    }
    Json group = reward.json();
    group["low"] = by[order[from]];
    group["high"] = by[order[to - 1]];
    group["at"] = place.value();
    list.push_back(std::move(group));
    from = to;
  }
  return list;
}

Json by_action(const LoggedData& data) {
  std::vector<Mean> means(data.K());
  for (std::size_t i = 0; i < data.rounds(); ++i) means[data.actions[i]].add(data.rewards[i]);
  Json list = Json::array();
  for (Action a = 0; a < data.K(); ++a) {
    Json one = means[a].json();
    one["action"] = data.action_names[a];
    list.push_back(std::move(one));
  }
  return list;
}

// Shares of rounds by weight: 0, then powers of two.
Json histogram(const std::vector<double>& weights) {
  std::map<int, double> counts;
  double zero = 0.0;
  for (const double w : weights) {
    if (w == 0.0) {
      zero += 1.0;
    } else {
      counts[std::max(-10, static_cast<int>(std::floor(std::log2(w))))] += 1.0;
    }
  }
  const double n = static_cast<double>(weights.size());
  Json list = Json::array({{{"low", 0.0}, {"high", 0.0}, {"share", zero / n}}});
  for (const auto& [power, count] : counts) {
    list.push_back({{"low", std::exp2(power)}, {"high", std::exp2(power + 1)}, {"share", count / n}});
  }
  return list;
}

// The logger's mean propensity of every action, or how often it was logged.
std::vector<double> logged_shares(const LoggedData& data) {
  std::vector<double> shares(data.K());
  const double n = static_cast<double>(data.rounds());
  if (data.knows_all_propensities()) {
    for (std::size_t i = 0; i < data.all_propensities.size(); ++i) shares[i % data.K()] += data.all_propensities[i] / n;
  } else {
    for (const Action a : data.actions) shares[a] += 1.0 / n;
  }
  return shares;
}

std::size_t feature_column(const LoggedData& data, const std::string& feature) {
  if (feature.empty()) return 0;
  const auto found = std::ranges::find(data.context_names, feature);
  if (found != data.context_names.end()) return static_cast<std::size_t>(found - data.context_names.begin());
  for (std::size_t j = 0; j < data.context_size; ++j) {
    if (feature == std::to_string(j + 1)) return j;
  }
  if (data.context_names.empty()) {
    throw bad_input("--feature must be a column of the context from 1 to {}, not '{}'", data.context_size, feature);
  }
  throw unknown_name("feature", feature, data.context_names);
}

Json feature_json(const LoggedData& data, const std::string& feature) {
  if (data.context_size == 0) return nullptr;
  const std::size_t j = feature_column(data, feature);
  std::vector<double> values(data.rounds());
  for (std::size_t i = 0; i < data.rounds(); ++i) values[i] = data.x(i)[j];
  const std::string name = data.context_names.empty() ? fmt::format("column {}", j + 1) : data.context_names[j];
  return {{"name", name}, {"groups", by_groups(values, data.rewards)}};
}

}  // namespace

std::string evaluation_page(const LoggedData& data, const EvaluationConfig& config, const Evaluation& result,
                            const EvaluationPage& page) {
  Json json = {
      {"kind", "evaluate"},
      {"title", fmt::format("What other policies would have earned: {}", page.title)},
      {"command", page.command},
      {"version", version},
      {"seed", config.seed},
      {"level", config.level},
      {"estimator", format_value(page.table.estimator)},
      {"interval", format_value(page.table.interval)},
      {"against", config.against},
      {"model", config.model},
      {"logged", log_json(data, result)},
      {"logged_shares", logged_shares(data)},
      {"policies", Json::array()},
      {"by_action", by_action(data)},
      {"feature", feature_json(data, page.feature)},
      {"calibration", result.model_logged.empty() ? Json(nullptr) : by_groups(result.model_logged, data.rewards)}};
  if (config.reward_range) json["reward_range"] = {config.reward_range->low, config.reward_range->high};
  for (std::size_t j = 0; j < result.policies.size(); ++j) {
    Json policy = policy_json(result.policies[j]);
    policy["histogram"] = histogram(result.terms[j].weight);
    json["policies"].push_back(std::move(policy));
  }
  return render_page(json);
}

}  // namespace pits
