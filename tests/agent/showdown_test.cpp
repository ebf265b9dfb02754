// The settings of docs/method.md's showdown, number by number: what the paper's baselines were run with.
#include "pits/agent/presets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "pits/agent/catalogue.h"

namespace pits::test {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

void expect_settings(const std::string& spec, const Settings& expected) {
  const auto recipe = find_recipe(agent_catalogue(), "agent", parse_spec(spec));
  std::map<std::string, std::string> fields;
  for (const Field& field : recipe->fields().list()) fields[field.name] = field.get();
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(fields.contains(name)) << spec << " has no " << name;
    EXPECT_EQ(fields[name], value) << spec << " " << name;
  }
}

// One hidden ReLU layer of 50, weights U(−0.3, 0.3), batch 512, squared error (log p = −(r − m)²), its mean over the
// batch, no prior, gradient norm 5, TensorFlow's RMSProp (ρ 0.9, squares start at 1) with step 0.1/(1 + 0.5 k); 100
// steps every 50 rounds, 2 initial pulls.
const Settings network = {
    {"hidden", "50"},       {"activation", "relu"},   {"init", "uniform"},   {"init_range", "0.3"},
    {"batch", "512"},       {"noise", "fixed"},       {"scale", "mean"},     {"noise_sd", format_value(std::sqrt(0.5))},
    {"clip", "5"},          {"prior_precision", "0"}, {"step", "0.1"},       {"optimizer", "rmsprop"},
    {"decay", "0.5"},       {"schedule", "inverse"},  {"first_square", "1"}, {"second_moment", "0.9"},
    {"train_steps", "100"}, {"train_every", "50"},    {"initial_pulls", "2"}};

TEST(Showdown, NetworksAreSetAsTheirCodeRanThem) {
  for (const char* agent : {"neural-linear", "neural-greedy", "bootstrap", "dropout", "parameter-noise"}) {
    for (const char* preset : {"showdown", "showdown-reset"}) {
      const std::string spec = std::string(agent) + ":" + preset;
      expect_settings(spec, network);
      expect_settings(spec, {{"restart", preset == std::string("showdown") ? "false" : "true"}});
    }
  }
}

TEST(Showdown, EachMethodHasItsOwnNumbers) {
  expect_settings("lin-ts", {{"lambda", "0.25"}, {"a0", "6"}, {"b0", "6"}, {"initial_pulls", "2"}});
  expect_settings("neural-linear", {{"regression_lambda", "0.25"}, {"noise_shape", "6"}, {"noise_scale", "6"}});
  expect_settings("bootstrap", {{"particles", "3"}, {"keep", "0.95"}});
  expect_settings("dropout", {{"keep", "0.8"}});
  expect_settings("parameter-noise", {{"sigma", "0.05"}, {"samples", "300"}});
  expect_settings("vi-ts", {{"hidden", "50"},
                            {"noise_sd", "0.1"},
                            {"prior_variance", "2"},
                            {"kl", "1"},
                            {"init_mean_sd", "0.05"},
                            {"init_log_sd", "-5"},
                            {"init_log_spread", "0.05"},
                            {"optimizer", "adam"},
                            {"step", "0.1"},
                            {"schedule", "constant"},
                            {"clip", "0"},
                            {"batch", "512"},
                            {"train_every", "50"},
                            {"train_steps", "100"},
                            {"initial_pulls", "2"}});
}

}  // namespace
}  // namespace pits::test
