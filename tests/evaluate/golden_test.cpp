// The whole evaluation against NumPy (scripts/golden/evaluation.py) on small random logs.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "pits/evaluate/evaluation.h"

namespace pits {
namespace {

using Json = nlohmann::json;
using std::vector;

LoggedData log_of(const Json& json) {
  LoggedData data;
  data.context_size = json["x"][0].size();
  const std::size_t K = json["p"][0].size();
  for (std::size_t a = 0; a < K; ++a) data.action_names.push_back(std::to_string(a));
  data.actions = json["a"].get<vector<Action>>();
  data.rewards = json["r"].get<vector<double>>();
  data.policies.push_back({.name = "mine"});
  for (std::size_t i = 0; i < data.rounds(); ++i) {
    data.propensities.push_back(json["p"][i][data.actions[i]]);
    for (const float v : json["x"][i]) data.contexts.push_back(v);
    for (std::size_t a = 0; a < K; ++a) {
      data.allowed.push_back(json["allowed"][i][a].get<std::uint8_t>());
      data.all_propensities.push_back(json["p"][i][a].get<float>());
      data.policies[0].probabilities.push_back(json["pi"][i][a]);
    }
  }
  return data;
}

void expect_pair(const Json& expected, double first, double second, const std::string& what, double tolerance = 1e-9) {
  EXPECT_NEAR(first, expected[0].get<double>(), tolerance) << what;
  EXPECT_NEAR(second, expected[1].get<double>(), tolerance) << what;
}

TEST(Golden, EvaluationIsNumpys) {
  std::ifstream file(std::string(PITS_TEST_DIR) + "/evaluate/golden-evaluation.json");
  const Json cases = Json::parse(file);
  ASSERT_EQ(cases.size(), 4);
  for (const Json& one : cases) {
    const LoggedData data = log_of(one);
    const Evaluation result = evaluate(data, {.policies = {"column:mine"}, .reward_range = {{0.0, 1.0}}});
    const JudgedResult& mine = result.policies.at(0);
    const Json& expected = one["expected"];
    for (const Estimate& e : mine.estimates) {
      const std::string name = enum_names<EstimatorKind>[static_cast<std::size_t>(e.kind)];
      expect_pair(expected[name], e.value, e.error, name);
      if (e.kind != EstimatorKind::dros) continue;
      const double lambda = expected["shrinkage"];
      if (lambda < 0.0) {
        EXPECT_TRUE(std::isinf(e.shrinkage));
      } else {
        EXPECT_NEAR(e.shrinkage / lambda, 1.0, 1e-9);
      }
    }
    ASSERT_EQ(mine.estimates.size(), 5);
    expect_pair(expected["sequence"], mine.sequence->low, mine.sequence->high, "sequence");
    expect_pair(expected["difference"], mine.sequence_difference->low, mine.sequence_difference->high, "difference");
    // b is the largest possible weight, from propensities that are kept as float.
    const Interval bound = *mine.estimates[0].bernstein;
    expect_pair(expected["bernstein"], bound.low, bound.high, "bernstein", 1e-5);
    const Estimate& dr = mine.differences[3];
    ASSERT_EQ(dr.kind, EstimatorKind::dr);
    expect_pair(expected["dr_difference"], dr.value, dr.error, "difference of dr");
    EXPECT_NEAR(mine.weights.effective_rounds, expected["effective"].get<double>(), 1e-9);
  }
}

}  // namespace
}  // namespace pits
