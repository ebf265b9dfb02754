#include "pits/experiment/run_cell.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiment/expect_error.h"
#include "pits/core/simd/kernels.h"
#include "pits/environment/wheel.h"
#include "pits/version.h"

namespace pits {
namespace {

using test::expect_mentions;
using Json = nlohmann::ordered_json;

ExperimentConfig small() {
  return {.agents = {"lin-ts", "uniform"}, .environments = {"linear", "wheel"}, .steps = 20, .realizations = 3};
}

ExperimentConfig with_agents(std::vector<std::string> agents) {
  ExperimentConfig config = small();
  config.agents = std::move(agents);
  return config;
}

std::string error_of(const ExperimentConfig& config) {
  return test::message_of([&] { Plan plan(config); });
}

std::string agent_field(const Plan& plan, std::size_t agent, const std::string& field) {
  return plan.resolved()["agents"].at(agent)["fields"].at(field).get<std::string>();
}

std::string env_field(const Plan& plan, std::size_t env, const std::string& field) {
  return plan.resolved()["environments"].at(env)["fields"].at(field).get<std::string>();
}

TEST(Plan, CellsGoThroughEnvironmentsThenAgentsThenRealizations) {
  const Plan plan(small());
  ASSERT_EQ(plan.cells(), 12U);
  std::size_t index = 0;
  for (std::size_t env = 0; env < 2; ++env) {
    for (std::size_t agent = 0; agent < 2; ++agent) {
      for (std::uint32_t realization = 0; realization < 3; ++realization, ++index) {
        const Cell cell = plan.cell(index);
        EXPECT_EQ(cell.index, index);
        EXPECT_EQ(cell.environment, env);
        EXPECT_EQ(cell.agent, agent);
        EXPECT_EQ(cell.realization, realization);
      }
    }
  }
}

TEST(Plan, KeepsTheSpecsAsLabels) {
  const Plan plan(with_agents({"pi-ts:released,particles=3", "lin-ts,lambda=1"}));
  EXPECT_EQ(plan.agents(), (std::vector<std::string>{"pi-ts:released,particles=3", "lin-ts,lambda=1"}));
  EXPECT_EQ(plan.environments(), (std::vector<std::string>{"linear", "wheel"}));
}

TEST(Plan, ResolvesEveryDefault) {
  const Json resolved = Plan(with_agents({"pi-ts"})).resolved();
  EXPECT_EQ(resolved["version"], version);
  EXPECT_EQ(resolved["simd"], simd_target());
  EXPECT_EQ(resolved["seed"], 0);
  EXPECT_EQ(resolved["steps"], 20);
  EXPECT_EQ(resolved["realizations"], 3);
  EXPECT_EQ(resolved["agents"][0]["label"], "pi-ts");
  EXPECT_EQ(resolved["agents"][0]["name"], "pi-ts");
  for (const auto& entry : agent_catalogue()) {
    if (entry.name != "pi-ts") continue;
    const auto recipe = entry.recipe("auto");
    for (const Field& field : recipe->fields().list()) {
      EXPECT_EQ(resolved["agents"][0]["fields"].at(field.name), field.get()) << field.name;
    }
  }
}

TEST(Plan, PresetsGiveWayToTheSpecAndTheSpecToSet) {
  ExperimentConfig config = with_agents({"pi-ts:released", "pi-ts:released,particles=7", "pi-ts,step=0.5"});
  const Plan plain(config);
  EXPECT_EQ(agent_field(plain, 0, "flow"), "dgf-released");
  EXPECT_EQ(agent_field(plain, 1, "particles"), "7");
  EXPECT_EQ(agent_field(plain, 2, "flow"), "blob");
  EXPECT_EQ(agent_field(plain, 2, "step"), "0.5");
  config.set = {"pi-ts.particles=4", "pi-ts.step=0.25", "pi-ts.step=0.125"};
  const Plan set(config);
  for (std::size_t agent = 0; agent < 3; ++agent) {
    EXPECT_EQ(agent_field(set, agent, "particles"), "4");
    EXPECT_EQ(agent_field(set, agent, "step"), "0.125") << "the last assignment holds";
  }
}

TEST(Plan, SetReachesOnlyAgentsOfThatName) {
  ExperimentConfig config = with_agents({"lin-ts", "gaussian-ts"});
  config.set = {"lin-ts.lambda=3"};
  const Plan plan(config);
  EXPECT_EQ(agent_field(plan, 0, "lambda"), "3");
  EXPECT_EQ(agent_field(plan, 1, "lambda"), "0.25");
}

TEST(Plan, SetEnvReachesAllThatHaveTheFieldOrTheOneThatIsNamed) {
  ExperimentConfig config = small();
  config.environments = {"linear", "sparse_linear", "wheel"};
  config.set_env = {"noise_level=0.5", "linear.dimension=4", "delta=0.75"};
  const Plan plan(config);
  EXPECT_EQ(env_field(plan, 0, "noise_level"), "0.5");
  EXPECT_EQ(env_field(plan, 1, "noise_level"), "0.5");
  EXPECT_EQ(env_field(plan, 0, "dimension"), "4");
  EXPECT_EQ(env_field(plan, 1, "dimension"), "10");
  EXPECT_EQ(env_field(plan, 2, "delta"), "0.75");
}

TEST(Plan, ErrorsOfAssignmentsNameThemAndWhatWouldBeRight) {
  const auto set = [](const char* text) {
    ExperimentConfig config = small();
    config.set = {text};
    return error_of(config);
  };
  expect_mentions(set("lambda=1"), {"'lambda=1'", "agent.field=value"});
  expect_mentions(set(".lambda=1"), {"'.lambda=1'", "agent.field=value"});
  expect_mentions(set("lin-ts.lambda"), {"'lin-ts.lambda'", "field=value"});
  expect_mentions(set("pi-ts.step=1"), {"'pi-ts'", "Known: lin-ts, uniform"});
  expect_mentions(set("lin-ts.lamda=1"), {"agent 'lin-ts'", "'lamda'", "did you mean 'lambda'"});
  expect_mentions(set("lin-ts.lambda=0"), {"agent 'lin-ts'", "lambda: must be above 0"});
  const auto set_env = [](const char* text) {
    ExperimentConfig config = small();
    config.set_env = {text};
    return error_of(config);
  };
  expect_mentions(set_env("radius=1"), {"unknown field of an environment in 'radius=1'", "'radius'", "Known: "});
  expect_mentions(set_env("whel.delta=1"), {"'whel'", "did you mean 'wheel'"});
  expect_mentions(set_env("delta=7"), {"environment 'wheel'", "delta: must be at least 0 and at most 1"});
}

TEST(Plan, RefusesWhatIsAskedForTwice) {
  expect_mentions(error_of(with_agents({"uniform", "lin-ts", "uniform"})), {"agent 'uniform'", "twice"});
  ExperimentConfig config = small();
  config.environments = {"wheel", "wheel"};
  expect_mentions(error_of(config), {"environment 'wheel'", "twice"});
}

TEST(Plan, RefusesEmptyListsAndNumbersOutOfRange) {
  expect_mentions(error_of(with_agents({})), {"no agent given", "--agent"});
  const auto changed = [](auto&& change) {
    ExperimentConfig config = small();
    change(config);
    return error_of(config);
  };
  expect_mentions(changed([](auto& c) { c.environments = {}; }), {"no environment given", "--env"});
  expect_mentions(changed([](auto& c) { c.steps = 0; }), {"steps: must be at least 1"});
  expect_mentions(changed([](auto& c) { c.steps = 5'000'000'000; }), {"steps", "at most 4000000000"});
  expect_mentions(changed([](auto& c) { c.realizations = -1; }), {"realizations: must be at least 1"});
  expect_mentions(changed([](auto& c) { c.seed = -1; }), {"seed: must be at least 0, not -1"});
}

TEST(Plan, TriesEveryCombinationBeforeTheFirstRound) {
  ExperimentConfig config = small();
  config.agents = {"lin-ts", "pi-ts,flow=spos"};
  expect_mentions(error_of(config), {"agent 'pi-ts,flow=spos' on 'linear'", "optimizer=sgd"});
  config = small();
  config.environments = {"linear,covariance=1x2x3"};
  expect_mentions(error_of(config), {"covariance", "1, 10 or 100 numbers, not 3"});
}

TEST(Plan, ErrorsOfACellSayWhichItWas) {
  const Plan plan({.agents = {"bernoulli-ts"}, .environments = {"wheel,inner_mean=7"}, .steps = 20, .realizations = 2});
  const auto run = [&] { run_cell(plan, plan.cell(1), [](std::size_t) {}); };
  expect_mentions(test::message_of(run),
                  {"agent 'bernoulli-ts' on 'wheel,inner_mean=7', realization 1", "gaussian-ts"});
}

TEST(Plan, NamesWhatACallersCatalogueHas) {
  Catalogues catalogues;
  const auto is_lin_ts = [](const AgentEntry& entry) { return entry.name == "lin-ts"; };
  AgentEntry mine = *std::ranges::find_if(catalogues.agents, is_lin_ts);
  mine.name = "mine";
  catalogues.agents.push_back(mine);
  ExperimentConfig config = with_agents({"lin-ts", "mine"});
  config.steps = 30;
  const Plan plan(config, catalogues);
  const auto nothing = [](std::size_t) {};
  const std::size_t R = plan.realizations();
  EXPECT_EQ(run_cell(plan, plan.cell(0), nothing).curve, run_cell(plan, plan.cell(R), nothing).curve);
  EXPECT_EQ(plan.agents(), (std::vector<std::string>{"lin-ts", "mine"}));
}

// The wheel for 10 rounds; from realization 1 on what `change` says.
class Changing : public Wheel {
 public:
  struct Config {
    std::string change;
  };
  Changing(const Config& config, const EnvironmentSetup& setup)
      : Wheel({}, setup), change_(setup.realization == 0 ? "" : config.change) {}
  std::size_t horizon() const override { return change_ == "rounds" ? 7 : change_ == "none" ? 0 : 10; }
  std::size_t actions() const override { return Wheel::actions() + (change_ == "actions" ? 1 : 0); }
  std::size_t context_size() const override { return Wheel::context_size() + (change_ == "contexts" ? 1 : 0); }

 private:
  std::string change_;
};
Fields fields(Changing::Config& config) { return Fields{}.add("change", config.change, ""); }

TEST(Plan, RefusesRealizationsThatDiffer) {
  Catalogues catalogues;
  catalogues.environments.push_back(
      make_entry<Environment, EnvironmentSetup, Changing>("changing", "", {}, default_config<Changing::Config>));
  const auto error_on = [&](const std::string& spec) {
    const Plan plan({.agents = {"uniform"}, .environments = {spec}, .steps = 20, .realizations = 2}, catalogues);
    EXPECT_EQ(run_cell(plan, plan.cell(0), [](std::size_t) {}).rounds, 10U);
    return test::message_of([&] { run_cell(plan, plan.cell(1), [](std::size_t) {}); });
  };
  expect_mentions(error_on("changing,change=rounds"), {"realization 1", "7 rounds", "has 10"});
  expect_mentions(error_on("changing,change=actions"), {"realization 1", "6 actions", "has 5"});
  expect_mentions(error_on("changing,change=contexts"), {"realization 1", "3 numbers", "has 2"});
  expect_mentions(error_on("changing,change=none"), {"realization 1", "0 rounds"});
}

TEST(Plan, AllAgentsMeetTheSameRounds) {
  const Plan plan(small());
  const auto nothing = [](std::size_t) {};
  for (std::size_t i = 0; i < 3; ++i) {
    const double uniform = run_cell(plan, plan.cell(i), nothing).uniform_regret;
    EXPECT_EQ(run_cell(plan, plan.cell(i + 3), nothing).uniform_regret, uniform);
    EXPECT_NE(run_cell(plan, plan.cell((i + 1) % 3), nothing).uniform_regret, uniform);
  }
}

}  // namespace
}  // namespace pits
