#include "pits/cuda/gpu_executor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiment/scratch.h"
#include "pits/agent/presets.h"
#include "pits/cuda/device/device.h"
#include "pits/cuda/gpu_settings.h"
#include "pits/cuda/lockstep.h"

namespace pits::cuda {
namespace {

ExperimentConfig small(std::vector<std::string> agents, Device device, std::string environment = "linear") {
  return {.agents = std::move(agents),
          .environments = {std::move(environment)},
          .steps = 200,
          .realizations = 50,
          .seed = 4,
          .device = device};
}

std::vector<Trajectory> run(const Plan& plan) {
  GpuExecutor executor(make_executor());
  MemoryResults results(plan);
  const std::atomic<bool> stop = false;
  executor.run(plan, &results, 2, stop, [](std::size_t) {});
  std::vector<Trajectory> paths;
  for (std::size_t i = 0; i < plan.cells(); ++i) paths.push_back(results.get(i));
  return paths;
}

// The same rounds and draws, sums in another order: single decisions differ, the regret does not. Two bounds on the
// mean difference: 3.5 of its standard errors, and, so that a noisy GPU does not pass, 5 % of the regret of uniform
// play and a quarter of the CPU's regret. Differences over 2,000 rounds are below 0.6 % of uniform play
// (docs/performance-gpu.md).
void compare_regrets(const std::string& agent, const std::string& environment) {
  const Plan plan(small({agent}, Device::cuda, environment));
  ASSERT_EQ(without_gpu_version(plan), "") << "the GPU would not be asked";
  const std::vector<Trajectory> cpu = run(Plan(small({agent}, Device::cpu, environment))), gpu = run(plan);
  const auto n = static_cast<double>(cpu.size());
  double mean = 0.0, square = 0.0, cpu_regret = 0.0, uniform_regret = 0.0;
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    ASSERT_EQ(cpu[i].uniform_regret, gpu[i].uniform_regret) << "not the same rounds";
    mean += (gpu[i].regret - cpu[i].regret) / n;
    cpu_regret += cpu[i].regret / n;
    uniform_regret += cpu[i].uniform_regret / n;
  }
  for (std::size_t i = 0; i < cpu.size(); ++i) square += std::pow(gpu[i].regret - cpu[i].regret - mean, 2);
  const double error = std::sqrt(square / (n - 1.0) / n);
  const double largest = std::min(0.05 * uniform_regret, 0.25 * cpu_regret);
  EXPECT_LE(std::abs(mean), std::min(3.5 * error, largest))
      << agent << " on " << environment << ": " << mean << " ± " << error << ", at most " << largest;
  testing::Test::RecordProperty(agent + " on " + environment.substr(0, 6), fmt::format("{:.3f} ± {:.3f}", mean, error));
}

TEST(GpuExecutor, RegretIsTheCpusWithinThreeAndAHalfStandardErrors) {
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

TEST(GpuExecutor, RegretOfTheDefaultIsTheCpusWithinThreeAndAHalfStandardErrors) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU here";
  const test::Scratch scratch;
  test::write_bytes(scratch / "classes.csv", classes());
  const std::string table = "csv:" + (scratch / "classes.csv").string() + ",label=class";
  for (const std::string& environment : {std::string("linear"), table}) {
    for (const std::string agent : {"pi-ts", "pi-ts:auto,hidden=20x20,units=standardised", "pi-ts:fast", "pi-ts:exact",
                                    "pi-ts:exact,last_layer=trained", "pi-ts:exact,hidden=20x20"}) {
      compare_regrets(agent, environment);
    }
  }
}

TEST(GpuExecutor, TheSameBitsTwiceAndAfterAResume) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU here";
  ExperimentConfig config = small({"pi-ts:released"}, Device::cuda);
  config.realizations = 7;
  const Plan plan(config);
  const std::vector<Trajectory> first = run(plan), second = run(plan);
  MemoryResults rest(plan);
  for (const std::size_t kept : {0U, 3U, 4U}) rest.put(kept, first[kept]);
  GpuExecutor executor(make_executor());
  const std::atomic<bool> stop = false;
  executor.run(plan, &rest, 2, stop, [](std::size_t) {});
  for (std::size_t i = 0; i < plan.cells(); ++i) {
    EXPECT_EQ(first[i].curve, second[i].curve);
    EXPECT_EQ(first[i].curve, rest.get(i).curve);
  }
}

TEST(GpuExecutor, LeavesOtherAgentsToTheCpu) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU here";
  ExperimentConfig config = small({"lin-ts", "pi-ts:paper"}, Device::cuda);
  config.realizations = 2;
  const std::vector<Trajectory> mixed = run(Plan(config));
  config = small({"lin-ts"}, Device::cpu);
  config.realizations = 2;
  const std::vector<Trajectory> cpu = run(Plan(config));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(mixed[i].curve, cpu[i].curve);
}

TEST(GpuExecutor, SaysWhichAgentHasNoGpuVersionAndWhy) {
  const std::vector<std::pair<std::string, std::string>> list = {{"lin-ts", "no GPU version"},
                                                                 {"pi-ts:paper,flow=gfsf", "flow=gfsf"},
                                                                 {"ensemble-sampling", "of their own"},
                                                                 {"neural-greedy", "clip"},
                                                                 {"pi-ts:exact,discount=0.9", "discount"},
                                                                 {"pi-ts:paper,model=linear,particles=46341", "46340"},
                                                                 {"pi-ts,batch=0", "batch=0"},
                                                                 {"pi-ts:exact,units=robust", "units=robust"},
                                                                 {"pi-ts:exact,cold_start=uniform", "cold_start"}};
  for (const auto& [agent, reason] : list) {
    const std::string said = without_gpu_version(Plan(small({"pi-ts:paper", agent}, Device::cpu)));
    EXPECT_NE(said.find(agent), std::string::npos) << said;
    EXPECT_NE(said.find(reason), std::string::npos) << said;
  }
  EXPECT_EQ(
      without_gpu_version(Plan(small({"pi-ts:paper", "pi-ts:released", "pi-ts:paper,model=linear"}, Device::cpu))), "");
  EXPECT_EQ(without_gpu_version(Plan(small({"pi-ts", "pi-ts:exact", "pi-ts:fast", "ensemble:auto"}, Device::cpu))), "");
}

TEST(GpuExecutor, LeavesFullInformationToTheCpu) {
  ExperimentConfig config = small({"pi-ts:paper"}, Device::cpu);
  config.feedback = FeedbackKind::all;
  const std::string said = without_gpu_version(Plan(config));
  EXPECT_NE(said.find("agent 'pi-ts:paper'"), std::string::npos) << said;
  EXPECT_NE(said.find("played actions only"), std::string::npos) << said;
}

TEST(GpuExecutor, GroupsAreTheLargestThatFit) {
  const PiTsConfig config = pi_ts_preset("pi-ts", "released");
  const Settings settings = gpu_settings(config, {54, 7, 0, 0}, 2000, GpuPrecision::tf32);
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
TEST(GpuExecutor, TheMemoryOfExactLastLayersIsCounted) {
  PiTsConfig config = pi_ts_preset("pi-ts", "exact");
  const auto bytes = [&] {
    return lockstep_bytes(gpu_settings(config, {54, 7, 0, 0}, 2000, GpuPrecision::tf32), 50, 2000);
  };
  const std::size_t exact = bytes(), F = 50 + 54 + 1;
  config.posterior.last_layer.kind = LastLayerKind::trained;
  const std::size_t trained = bytes();
  EXPECT_GT(exact - trained, std::size_t{50} * 20 * 7 * F * (F + 1) / 2 * 8);
  config.posterior.units = UnitsKind::raw;
  EXPECT_GT(trained - bytes(), std::size_t{50} * 2000 * 54 * 4);
}

// Covariances, draws and sums of six sets, and what looks for changes.
TEST(GpuExecutor, TheMemoryOfAMixtureIsCounted) {
  PiTsConfig config = pi_ts_preset("pi-ts", "auto");
  const auto bytes = [&] {
    return lockstep_bytes(gpu_settings(config, {54, 7, 0, 0}, 2000, GpuPrecision::tf32), 50, 2000);
  };
  const std::size_t all = bytes(), F = 50 + 58 + 1, regressions = std::size_t{50} * 6 * 7;
  config.posterior.memory.adaptive = false;
  EXPECT_GT(all - bytes(), std::size_t{50} * 7 * 4 * 21 * 21 * 8);
  config.posterior.last_layer.kind = LastLayerKind::trained;
  EXPECT_GT(all - bytes(), regressions * (F * F * 4 + F * (F + 1) / 2 * 8 + 20 * F * 4));
}

std::string said_by(const Plan& plan) {
  try {
    run(plan);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

// Rounds that no GPU holds, and more than a GPU numbers. Trainings are rare: their steps are listed ahead.
TEST(GpuExecutor, TooLargeARealizationIsAnErrorWithTheMemoryItNeeds) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU here";
  ExperimentConfig config = small({"pi-ts:paper,train_every=1000000000"}, Device::cuda);
  config.realizations = 1;
  config.steps = 2'000'000'000;
  const std::string memory = said_by(Plan(config));
  EXPECT_NE(memory.find("one realization needs"), std::string::npos) << memory;
  EXPECT_NE(memory.find("GiB is free: the largest group that fits is 0"), std::string::npos) << memory;
  RecordProperty("message", memory);
  config.steps = 3'000'000'000;
  const std::string rounds = said_by(Plan(config));
  EXPECT_NE(rounds.find("3000000000 rounds: the GPU numbers at most 2147483647"), std::string::npos) << rounds;
}

TEST(GpuExecutor, TheDeviceIsPartOfTheResolvedConfig) {
  EXPECT_EQ(Plan(small({"pi-ts:paper"}, Device::cuda)).resolved().at("device"), "cuda");
  EXPECT_EQ(Plan(small({"pi-ts:paper"}, Device::cuda)).resolved().at("precision"), "tf32");
  EXPECT_FALSE(Plan(small({"pi-ts:paper"}, Device::cpu)).resolved().contains("device"));
}

}  // namespace
}  // namespace pits::cuda
