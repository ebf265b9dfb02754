// Policies, masks, diagnostics and the reward model on simulated logs whose truth is known.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "pits/agent/catalogue.h"
#include "pits/bandit/bandit.h"
#include "pits/core/error.h"
#include "pits/core/parallel.h"
#include "pits/core/random.h"
#include "pits/evaluate/evaluation_json.h"
#include "pits/evaluate/judged_policy.h"
#include "pits/evaluate/reward_model.h"

namespace pits {
namespace {

using std::vector;

// Three actions by two numbers; the reward of a is 1 with probability 0.2 + 0.2 a, a little more where x_0 is high.
// The third action is not allowed in every fifth round.
LoggedData simulated(std::size_t n, bool masks = true, std::uint64_t seed = 3) {
  LoggedData data{.action_names = {"a", "b", "c"}, .context_size = 2};
  for (std::size_t i = 0; i < n; ++i) {
    Stream stream({.seed = seed, .step = static_cast<std::uint32_t>(i)});
    const vector<double> p = masks && i % 5 == 0 ? vector<double>{.6, .4, 0} : vector<double>{.5, .3, .2};
    const Action a = static_cast<Action>(stream.categorical(p));
    data.actions.push_back(a);
    data.propensities.push_back(p[a]);
    const double x = stream.uniform();
    data.contexts.insert(data.contexts.end(), {static_cast<float>(x), static_cast<float>(stream.normal())});
    for (Action b = 0; b < 3; ++b) {
      data.all_propensities.push_back(static_cast<float>(p[b]));
      if (masks) data.allowed.push_back(p[b] > 0 ? 1 : 0);
      data.true_means.push_back(0.2 + 0.2 * b + 0.1 * (x > 0.5 ? 1 : 0));
    }
    data.rewards.push_back(stream.uniform() < data.true_means[3 * i + a] ? 1.0 : 0.0);
  }
  return data;
}

TEST(Policies, ProbabilitiesOfEachKind) {
  LoggedData data = simulated(10);
  data.policies.push_back({.name = "mine", .probabilities = vector<double>(30, 1.0 / 3.0)});
  vector<double> p(3);
  make_policy("uniform", data)->probabilities(data, 0, p);
  EXPECT_EQ(p, (vector<double>{.5, .5, 0}));
  make_policy("fixed:c", data)->probabilities(data, 0, p);  // not allowed there
  EXPECT_EQ(p, (vector<double>{.5, .5, 0}));
  make_policy("fixed:c", data)->probabilities(data, 1, p);
  EXPECT_EQ(p, (vector<double>{0, 0, 1}));
  make_policy("column:mine", data)->probabilities(data, 1, p);
  EXPECT_NEAR(p[2], 1.0 / 3.0, 1e-15);
  const auto agent = make_policy("agent:pi-ts:fast", data);
  EXPECT_TRUE(agent->learns());
  EXPECT_NE(agent->remark().find("learned from the logger's choices"), std::string::npos);
  agent->probabilities(data, 0, p);
  EXPECT_NEAR(p[0] + p[1], 1.0, 1e-12);
  EXPECT_EQ(p[2], 0.0);
}

// Even the agent that wrote a log would seem better than its own decisions, a part of which were left to chance.
TEST(Policies, AFloorOfTheLogThatAnAgentDoesNotHaveIsNamed) {
  const LoggedData data = simulated(60);  // the least likely action has 0.2, where three are allowed
  const auto remark_of = [&](const std::string& spec) {
    const auto policy = make_policy(spec, data);
    vector<double> p(3);
    for (std::size_t i = 0; i < data.rounds(); ++i) {
      policy->probabilities(data, i, p);
      policy->learn(data, i);
    }
    return policy->remark();
  };
  EXPECT_NE(remark_of("agent:pi-ts:fast").find("floor=0.6)"), std::string::npos) << remark_of("agent:pi-ts:fast");
  EXPECT_EQ(remark_of("agent:pi-ts:fast,floor=0.8").find("floor"), std::string::npos);
}

TEST(Policies, ASavedBanditIsFrozenAndMustFit) {
  const LoggedData data = simulated(50);
  Bandit bandit("lin-ts", {.context_size = 2, .actions = 3});
  for (std::size_t i = 0; i < 50; ++i) bandit.learn(data.x(i), data.actions[i], static_cast<float>(data.rewards[i]));
  const auto file = std::filesystem::temp_directory_path() / ("judged-" + std::to_string(getpid()) + ".pits");
  bandit.save(file);
  const auto policy = make_policy("saved:" + file.string(), data);
  EXPECT_FALSE(policy->learns());
  vector<double> p(3);
  vector<float> own(3);
  policy->probabilities(data, 7, p);
  bandit.probabilities(data.x(7), own, data.action_set(7), 7);
  for (Action a = 0; a < 3; ++a) EXPECT_NEAR(p[a], own[a], 1e-6);
  Bandit("uniform", {.context_size = 4, .actions = 3}).save(file);
  EXPECT_THROW(make_policy("saved:" + file.string(), data), Error);
  std::filesystem::remove(file);
}

TEST(Policies, WrongOnesAreRefused) {
  const LoggedData data = simulated(10);
  for (const char* spec :
       {"fixed:d", "fixed:", "column:mine", "saved:/nowhere.pits", "agent:lin-t", "best", "uniform:a"}) {
    EXPECT_THROW(make_policy(spec, data), Error) << spec;
  }
}

// An agent is judged on a round before it learns it: rewards of the future change nothing before them.
TEST(Policies, AnAgentDoesNotSeeTheRoundThatJudgesIt) {
  LoggedData data = simulated(200, false);
  const EvaluationConfig config{.policies = {"agent:lin-ts"}, .model = "none"};
  const Evaluation before = evaluate(data, config);
  for (std::size_t i = 100; i < 200; ++i) data.rewards[i] = 5.0;
  const Evaluation after = evaluate(data, config);
  for (std::size_t i = 0; i <= 100; ++i) EXPECT_EQ(before.terms[0].weight[i], after.terms[0].weight[i]) << i;
  EXPECT_NE(before.terms[0].weight, after.terms[0].weight);
}

// All unbiased estimators are within 4 standard errors of the truth, and the sequence holds it.
TEST(Evaluation, FindsTheTruthOfSimulatedLogs) {
  const LoggedData data = simulated(6000);
  const Evaluation result = evaluate(
      data,
      {.policies = {"uniform", "fixed:c", "fixed:a", "agent:lin-ts"}, .reward_range = {{0, 1}}, .bootstrap = 200});
  ASSERT_EQ(result.policies.size(), 4);
  for (const JudgedResult& policy : result.policies) {
    for (const Estimate& e : policy.estimates) {
      EXPECT_NEAR(e.value, *policy.truth, 4.0 * e.error + (e.kind == EstimatorKind::dm ? 0.02 : 0.0)) << policy.policy;
      EXPECT_LE(e.bootstrap->low, e.value);
      EXPECT_GE(e.bootstrap->high, e.value);
    }
    EXPECT_LT(policy.sequence->low, *policy.truth);
    EXPECT_GT(policy.sequence->high, *policy.truth);
    const double apart = *policy.truth - *result.logged_truth;
    EXPECT_LT(policy.sequence_difference->low, apart);
    EXPECT_GT(policy.sequence_difference->high, apart);
    EXPECT_NEAR(policy.weights.mean, 1.0, 4.0 * policy.weights.mean_error + 1e-12);
    EXPECT_EQ(policy.weights.unsupported, 0.0);
    EXPECT_TRUE(policy.warnings.empty()) << policy.warnings.front();
  }
}

TEST(Evaluation, TheLoggersOwnPolicyHasWeightOne) {
  LoggedData data = simulated(500);
  data.policies.push_back({.name = "logger"});
  for (const float p : data.all_propensities) data.policies[0].probabilities.push_back(p);
  const Evaluation result = evaluate(data, {.policies = {"column:logger"}, .model = "none"});
  EXPECT_NEAR(result.policies[0].find(EstimatorKind::ips)->value, result.logged.value, 1e-6);
  EXPECT_NEAR(result.policies[0].weights.effective_rounds, 500.0, 1e-6);
  EXPECT_NEAR(result.policies[0].differences[0].error, 0.0, 1e-6);
}

TEST(Evaluation, ReplayIsForUniformLogsAndIsSnipsThere) {
  LoggedData data = simulated(300, false);
  EXPECT_EQ(evaluate(data, {.policies = {"fixed:a"}}).policies[0].find(EstimatorKind::replay), nullptr);
  std::fill(data.propensities.begin(), data.propensities.end(), 1.0 / 3.0);
  std::fill(data.all_propensities.begin(), data.all_propensities.end(), 1.0F / 3.0F);
  const Evaluation result = evaluate(data, {.policies = {"fixed:a"}});
  double sum = 0.0, count = 0.0;  // the mean reward of the rounds with that action
  for (std::size_t i = 0; i < data.rounds(); ++i) {
    if (data.actions[i] != 0) continue;
    sum += data.rewards[i];
    count += 1.0;
  }
  EXPECT_NEAR(result.policies[0].find(EstimatorKind::replay)->value, sum / count, 1e-12);
  EXPECT_NEAR(result.policies[0].find(EstimatorKind::snips)->value, sum / count, 1e-12);
}

TEST(Evaluation, SaysWhenAnEstimateShouldNotBeTrusted) {
  LoggedData data = simulated(400, false);
  for (std::size_t i = 0; i < data.rounds(); ++i) {  // c could not be taken in the last rounds
    if (i < 200) continue;
    const float p[] = {.6F, .4F, 0.0F};
    std::copy_n(p, 3, data.all_propensities.begin() + static_cast<std::ptrdiff_t>(3 * i));
    data.actions[i] = data.actions[i] == 2 ? 0 : data.actions[i];
    data.propensities[i] = p[data.actions[i]];
  }
  const Evaluation result = evaluate(data, {.policies = {"fixed:c"}});
  EXPECT_NEAR(*result.policies[0].weights.unsupported, 0.5, 1e-12);
  ASSERT_FALSE(result.policies[0].warnings.empty());
  EXPECT_NE(result.policies[0].warnings[0].find("50.0 % of the policy's decisions"), std::string::npos);
  data.all_propensities.clear();
  EXPECT_FALSE(evaluate(data, {.policies = {"fixed:c"}}).policies[0].weights.unsupported.has_value());
}

TEST(Evaluation, TheSameBitsForAnyNumberOfThreads) {
  const LoggedData data = simulated(9000);
  const EvaluationConfig config{
      .policies = {"uniform", "agent:lin-ts", "fixed:b"}, .reward_range = {{0, 1}}, .bootstrap = 50, .draws = 5};
  vector<std::string> texts;
  for (const int threads : {1, 2, 5}) {
    const ThreadScope scope(threads);
    const Evaluation result = evaluate(data, config);
    std::string text = log_json(data, result).dump();
    for (const JudgedResult& policy : result.policies) text += policy_json(policy).dump();
    texts.push_back(text);
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

TEST(Evaluation, DifferencesToAPolicy) {
  const LoggedData data = simulated(1000);
  const Evaluation result =
      evaluate(data, {.policies = {"fixed:a", "fixed:b"}, .reward_range = {{0, 1}}, .against = "fixed:a"});
  EXPECT_EQ(result.policies[0].differences[0].value, 0.0);
  EXPECT_NEAR(result.policies[1].differences[0].value,
              result.policies[1].estimates[0].value - result.policies[0].estimates[0].value, 1e-12);
}

TEST(Evaluation, BadSettingsAreRefused) {
  const LoggedData data = simulated(50);
  const auto bad = [&](const EvaluationConfig& config) { EXPECT_THROW(evaluate(data, config), Error); };
  bad({.policies = {"uniform"}, .reward_range = {{0.0, 0.5}}});
  bad({.policies = {"uniform"}, .reward_range = {{1.0, 0.0}}});
  bad({.policies = {"uniform"}, .level = 1.0});
  bad({.policies = {"uniform"}, .against = "fixed:a"});
  bad({.policies = {"uniform", "uniform"}});
  bad({.policies = {"uniform"}, .model = "uniform"});
  bad({.policies = {"uniform"}, .folds = 1});
  bad({.policies = {"uniform"}, .folds = 40});
  bad({.policies = {"uniform"}, .draws = 0});
}

// A round's prediction does not depend on its own reward.
TEST(RewardModel, IsCrossFitted) {
  LoggedData data = simulated(100);
  for (const char* model : {"linear", "lin-ts", "pi-ts:fast"}) {
    LoggedData changed = data;
    changed.rewards[37] += 100.0;
    const CrossFit config{.model = model, .draws = 3};
    const vector<double> q = cross_fitted(data, config), other = cross_fitted(changed, config);
    for (std::size_t i = 37 % 5; i < 100; i += 5) {
      for (Action a = 0; a < 3; ++a) EXPECT_EQ(q[3 * i + a], other[3 * i + a]) << model << " " << i;
    }
    EXPECT_NE(q, other);
  }
}

// Of a mixture the mean of its models, however many draws are asked for; of others that of the draws. By a plain loop
// over the fold that holds rounds 1, 6, 11, ...
TEST(RewardModel, IsTheAgentsMean) {
  const LoggedData data = simulated(100);
  for (const char* spec : {"pi-ts:fast", "lin-ts"}) {
    const auto agent =
        find_recipe(agent_catalogue(), "agent", parse_spec(spec))
            ->make({.context_size = data.context_size, .actions = data.K(), .seed = 9, .realization = 1});
    for (std::size_t i = 0; i < 100; ++i) {
      const Feedback event{
          .x = data.x(i), .action = data.actions[i], .reward = static_cast<float>(data.rewards[i]), .id = i};
      if (i % 5 != 1) agent->learn({&event, 1});
    }
    const vector<double> q = cross_fitted(data, {.model = spec, .draws = 3, .seed = 9});
    for (std::size_t i = 1; i < 100; i += 5) {
      vector<double> mean(3), drawn(3);
      const bool known = agent->mean_rewards(data.x(i), mean);
      EXPECT_EQ(known, std::string(spec) == "pi-ts:fast");
      for (std::uint32_t k = 0; k < 3 && !known; ++k) {
        ASSERT_TRUE(agent->draw_rewards(data.x(i), k, drawn));
        for (Action a = 0; a < 3; ++a) mean[a] += drawn[a] / 3.0;
      }
      for (Action a = 0; a < 3; ++a) EXPECT_DOUBLE_EQ(q[3 * i + a], mean[a]) << spec << " " << i;
    }
  }
}

}  // namespace
}  // namespace pits
