#include "pits/cuda/card_executor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pits/cuda/card_settings.h"
#include "pits/cuda/device.h"
#include "pits/cuda/lockstep.h"

namespace pits::cuda {
namespace {

ExperimentConfig small(std::vector<std::string> agents, std::string device) {
  return {.agents = std::move(agents),
          .environments = {"linear"},
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
TEST(CardExecutor, RegretIsTheCpusWithinThreeAndAHalfStandardErrors) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU here";
  for (const std::string agent : {"pi-ts:released", "pi-ts:released,flow=svgd", "pi-ts:released,flow=blob",
                                  "pi-ts:paper", "pi-ts:paper,flow=ensemble", "pi-ts:paper,floor=0.2,hidden=20x20"}) {
    const std::vector<Trajectory> cpu = run(Plan(small({agent}, "")));
    const std::vector<Trajectory> card = run(Plan(small({agent}, "cuda")));
    const auto n = static_cast<double>(cpu.size());
    double mean = 0.0, square = 0.0;
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      ASSERT_EQ(cpu[i].uniform_regret, card[i].uniform_regret) << "not the same rounds";
      mean += (card[i].regret - cpu[i].regret) / n;
    }
    for (std::size_t i = 0; i < cpu.size(); ++i) square += std::pow(card[i].regret - cpu[i].regret - mean, 2);
    const double error = std::sqrt(square / (n - 1.0) / n);
    EXPECT_LE(std::abs(mean), 3.5 * error) << agent << ": " << mean << " ± " << error;
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
  const std::vector<std::pair<std::string, std::string>> list = {{"lin-ts", "no GPU version"},
                                                                 {"pi-ts:paper,flow=gfsf", "flow=gfsf"},
                                                                 {"ensemble-sampling", "of their own"},
                                                                 {"neural-greedy", "clip"},
                                                                 {"pi-ts:paper,model=linear,particles=46341", "46340"}};
  for (const auto& [agent, reason] : list) {
    const std::string said = without_card_version(Plan(small({"pi-ts:paper", agent}, "")));
    EXPECT_NE(said.find(agent), std::string::npos) << said;
    EXPECT_NE(said.find(reason), std::string::npos) << said;
  }
  EXPECT_EQ(without_card_version(Plan(small({"pi-ts:paper", "pi-ts:released", "pi-ts:paper,model=linear"}, ""))), "");
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
