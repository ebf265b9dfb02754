#include "pits/cuda/card_executor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiment/scratch.h"
#include "pits/cuda/card_settings.h"
#include "pits/cuda/device.h"
#include "pits/cuda/lockstep.h"

namespace pits::cuda {
namespace {

ExperimentConfig small(std::vector<std::string> agents, std::string device, std::string environment = "linear") {
  return {.agents = std::move(agents),
          .environments = {std::move(environment)},
          .steps = 200,
          .realizations = 50,
          .seed = 4,
          .device = std::move(device),
          .precision = "tf32"};
}

std::vector<Trajectory> run(const Plan& plan) {
  CardExecutor executor(make_executor());
  MemoryResults results(plan);
  const std::atomic<bool> stop = false;
  executor.run(plan, &results, 2, stop, [](std::size_t) {});
  std::vector<Trajectory> paths;
  for (std::size_t i = 0; i < plan.cells(); ++i) paths.push_back(results.get(i));
  return paths;
}

// The same rounds and draws, sums in another order: single decisions differ, the regret does not.
void compare_regrets(const std::string& agent, const std::string& environment) {
  const Plan plan(small({agent}, "cuda", environment));
  ASSERT_EQ(without_card_version(plan), "") << "the card would not be asked";
  const std::vector<Trajectory> cpu = run(Plan(small({agent}, "", environment))), card = run(plan);
  const auto n = static_cast<double>(cpu.size());
  double mean = 0.0, square = 0.0;
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    ASSERT_EQ(cpu[i].uniform_regret, card[i].uniform_regret) << "not the same rounds";
    mean += (card[i].regret - cpu[i].regret) / n;
  }
  for (std::size_t i = 0; i < cpu.size(); ++i) square += std::pow(card[i].regret - cpu[i].regret - mean, 2);
  const double error = std::sqrt(square / (n - 1.0) / n);
  EXPECT_LE(std::abs(mean), 3.5 * error) << agent << " on " << environment << ": " << mean << " ± " << error;
  testing::Test::RecordProperty(agent + " on " + environment.substr(0, 6), fmt::format("{:.3f} ± {:.3f}", mean, error));
}

TEST(CardExecutor, RegretIsTheCpusWithinThreeAndAHalfStandardErrors) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU here";
  for (const std::string agent : {"pi-ts:released", "pi-ts:released,flow=svgd", "pi-ts:released,flow=blob",
                                  "pi-ts:paper", "pi-ts:paper,flow=ensemble", "pi-ts:paper,floor=0.2,hidden=20x20"}) {
    compare_regrets(agent, "linear");
  }
}

// Seven classes of nine numbers, four fifths of them the same class, as statlog has it.
std::string classes() {
  Stream stream({.seed = 21});
  std::vector<double> centres(7 * 9);
  for (double& x : centres) x = 2.0 * stream.normal();
  std::string text = "a,b,c,d,e,f,g,h,i,class\n";
  for (int row = 0; row < 2000; ++row) {
    const std::uint32_t label = stream.uniform() < 0.8 ? 0 : 1 + stream.index(6);
    for (std::size_t j = 0; j < 9; ++j) {
      text += fmt::format("{:.4f},", 30.0 + 10.0 * (centres[label * 9 + j] + stream.normal()));
    }
    text += fmt::format("c{}\n", label);
  }
  return text;
}

TEST(CardExecutor, RegretOfTheDefaultIsTheCpusWithinThreeAndAHalfStandardErrors) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU here";
  const test::Scratch scratch;
  test::write_bytes(scratch / "classes.csv", classes());
  const std::string table = "csv:" + (scratch / "classes.csv").string() + ",label=class";
  for (const std::string& environment : {std::string("linear"), table}) {
    for (const std::string agent :
         {"pi-ts", "pi-ts:fast", "pi-ts:auto,last_layer=trained", "pi-ts:fast,hidden=20x20"}) {
      compare_regrets(agent, environment);
    }
  }
}

TEST(CardExecutor, TheSameBitsTwiceAndAfterAResume) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU here";
  ExperimentConfig config = small({"pi-ts:released"}, "cuda");
  config.realizations = 7;
  const Plan plan(config);
  const std::vector<Trajectory> first = run(plan), second = run(plan);
  MemoryResults rest(plan);
  for (const std::size_t kept : {0U, 3U, 4U}) rest.put(kept, first[kept]);
  CardExecutor executor(make_executor());
  const std::atomic<bool> stop = false;
  executor.run(plan, &rest, 2, stop, [](std::size_t) {});
  for (std::size_t i = 0; i < plan.cells(); ++i) {
    EXPECT_EQ(first[i].curve, second[i].curve);
    EXPECT_EQ(first[i].curve, rest.get(i).curve);
  }
}

TEST(CardExecutor, LeavesOtherAgentsToTheCpu) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU here";
  ExperimentConfig config = small({"lin-ts", "pi-ts:paper"}, "cuda");
  config.realizations = 2;
  const std::vector<Trajectory> mixed = run(Plan(config));
  config = small({"lin-ts"}, "");
  config.realizations = 2;
  const std::vector<Trajectory> cpu = run(Plan(config));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(mixed[i].curve, cpu[i].curve);
}

TEST(CardExecutor, SaysWhichAgentHasNoGpuVersionAndWhy) {
  const std::vector<std::pair<std::string, std::string>> list = {
      {"lin-ts", "no GPU version"},          {"pi-ts:paper,flow=gfsf", "flow=gfsf"},
      {"ensemble-sampling", "of their own"}, {"neural-greedy", "clip"},
      {"pi-ts,discount=0.9", "discount"},    {"pi-ts:paper,model=linear,particles=46341", "46340"}};
  for (const auto& [agent, reason] : list) {
    const std::string said = without_card_version(Plan(small({"pi-ts:paper", agent}, "")));
    EXPECT_NE(said.find(agent), std::string::npos) << said;
    EXPECT_NE(said.find(reason), std::string::npos) << said;
  }
  EXPECT_EQ(without_card_version(Plan(small({"pi-ts:paper", "pi-ts:released", "pi-ts:paper,model=linear"}, ""))), "");
  EXPECT_EQ(without_card_version(Plan(small({"pi-ts", "pi-ts:fast", "ensemble:auto"}, ""))), "");
}

TEST(CardExecutor, LeavesFullInformationToTheCpu) {
  ExperimentConfig config = small({"pi-ts:paper"}, "");
  config.feedback = "all";
  const std::string said = without_card_version(Plan(config));
  EXPECT_NE(said.find("agent 'pi-ts:paper'"), std::string::npos) << said;
  EXPECT_NE(said.find("actions played only"), std::string::npos) << said;
}

TEST(CardExecutor, GroupsAreTheLargestThatFit) {
  const PiTsConfig config = pi_ts_preset("released");
  const Settings settings = card_settings(config, {54, 7, 0, 0}, 2000, CardPrecision::tf32);
  const std::size_t one = lockstep_bytes(settings, 1, 2000);
  EXPECT_GT(one, std::size_t{2000} * 54 * 4 + 3 * 20 * 3000 * 4);
  EXPECT_EQ(largest_group(settings, 50, 2000, one / 2), 0U);
  EXPECT_EQ(largest_group(settings, 50, 2000, std::size_t{1} << 40), 50U);
  const std::size_t free = 10 * one, fits = largest_group(settings, 50, 2000, free);
  EXPECT_GT(fits, 5U);
  EXPECT_LE(lockstep_bytes(settings, fits, 2000), free - free / 20);
  EXPECT_GT(lockstep_bytes(settings, fits + 1, 2000), free - free / 20);
}

// The triangles of the last layers and the contexts in units are in the sum.
TEST(CardExecutor, TheMemoryOfExactLastLayersIsCounted) {
  PiTsConfig config = pi_ts_preset("auto");
  const auto bytes = [&] {
    return lockstep_bytes(card_settings(config, {54, 7, 0, 0}, 2000, CardPrecision::tf32), 50, 2000);
  };
  const std::size_t exact = bytes(), F = 50 + 54 + 1;
  config.last_layer.kind = LastLayerKind::trained;
  const std::size_t trained = bytes();
  EXPECT_GT(exact - trained, std::size_t{50} * 20 * 7 * F * (F + 1) / 2 * 8);
  config.posterior.units = UnitsKind::raw;
  EXPECT_GT(trained - bytes(), std::size_t{50} * 2000 * 54 * 4);
}

std::string said_by(const Plan& plan) {
  try {
    run(plan);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

// Rounds that no card holds, and more than a card numbers. Trainings are rare: their steps are listed ahead.
TEST(CardExecutor, TooLargeARealizationIsAnErrorWithTheMemoryItNeeds) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU here";
  ExperimentConfig config = small({"pi-ts:paper,train_every=1000000000"}, "cuda");
  config.realizations = 1;
  config.steps = 2'000'000'000;
  const std::string memory = said_by(Plan(config));
  EXPECT_NE(memory.find("one realization needs"), std::string::npos) << memory;
  EXPECT_NE(memory.find("GiB is free: the largest group that fits is 0"), std::string::npos) << memory;
  RecordProperty("message", memory);
  config.steps = 3'000'000'000;
  const std::string rounds = said_by(Plan(config));
  EXPECT_NE(rounds.find("3000000000 rounds: the card numbers at most 2147483647"), std::string::npos) << rounds;
}

TEST(CardExecutor, TheDeviceIsPartOfTheResolvedConfig) {
  EXPECT_EQ(Plan(small({"pi-ts:paper"}, "cuda")).resolved().at("device"), "cuda");
  EXPECT_EQ(Plan(small({"pi-ts:paper"}, "cuda")).resolved().at("precision"), "tf32");
  EXPECT_FALSE(Plan(small({"pi-ts:paper"}, "")).resolved().contains("device"));
}

}  // namespace
}  // namespace pits::cuda
