// How long taking a reward and deciding take while trainings run, and how fast outcomes are learned.
//
//   bench_live DIRECTORY [AGENT [OBSERVATIONS [SECONDS]]]
//
// Contexts of 9 numbers, 7 actions (the sizes of statlog). The service first learns OBSERVATIONS outcomes (100,000).
// Then one thread sends a reward every millisecond and another decides as often, for SECONDS (10); latencies are given
// apart for the time in which a training was under way. A reward waits for the disk: a DIRECTORY in memory takes it
// out. At last a learner replays outcomes from the newest snapshot on, trainings included, on one thread.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "pits/log/live_bandit.h"
#include "pits/log/sqlite_store.h"

namespace pits {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t d = 9;
constexpr int at_once = 100;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A nonlinear truth with noise.
struct World {
  explicit World(unsigned seed) : random(seed) {}
  std::vector<float> context() {
    std::vector<float> x(d);
    for (float& v : x) v = normal(random);
    return x;
  }
  float reward(const std::vector<float>& x, Action a) {
    return std::tanh(x[a % d] * x[(a + 1) % d] + x[(a + 2) % d]) + 0.3F * normal(random);
  }
  std::mt19937 random;
  std::normal_distribution<float> normal;
};

struct Latencies {
  std::vector<double> training, idle;  // microseconds

  template <class Call>
  void time(const LiveBandit& live, const Call& call) {
    const bool before = live.status().training;
    const auto start = Clock::now();
    call();
    const double taken = 1e6 * seconds_since(start);
    (before ? training : idle).push_back(taken);
  }
  static void print(const char* what, std::vector<double> all) {
    if (all.empty()) return;
    std::ranges::sort(all);
    const auto at = [&](double share) {
      return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
    };
    fmt::print("{:34} n {:6}  p50 {:7.0f}  p99 {:7.0f}  p99.9 {:7.0f}  max {:7.0f} µs\n", what, all.size(), at(0.5),
               at(0.99), at(0.999), all.back());
  }
};

void teach(LiveBandit& live, std::size_t observations) {
  World world(1);
  const auto start = Clock::now();
  for (std::size_t n = 0; n < observations; n += at_once) {
    std::vector<Reward> rewards;
    for (int i = 0; i < at_once; ++i) {
      const std::vector<float> x = world.context();
      const Choice choice = live.decide(x);
      rewards.push_back({choice.id, world.reward(x, choice.action)});
    }
    live.reward(rewards);
    if (n % 1000 == 0) live.catch_up();
  }
  live.catch_up();
  const LiveStatus status = live.status();
  fmt::print("{} outcomes decided, rewarded and learned in {:.1f} s, {} trainings adopted\n", observations,
             seconds_since(start), status.trainings);
}

void measure(LiveBandit& live, double seconds) {
  Latencies rewards, decisions;
  const auto start = Clock::now();
  const std::uint64_t trainings = live.status().trainings;
  const auto every_millisecond = [&](const auto& work) {
    for (auto next = Clock::now(); seconds_since(start) < seconds; next += std::chrono::milliseconds(1)) {
      std::this_thread::sleep_until(next);
      work();
    }
  };
  std::thread decider([&] {
    World world(2);
    every_millisecond([&] {
      const std::vector<float> x = world.context();
      decisions.time(live, [&] { live.decide(x); });
    });
  });
  World world(3);
  every_millisecond([&] {
    const std::vector<float> x = world.context();
    const Choice choice = live.decide(x);
    rewards.time(live, [&] { live.reward({choice.id, world.reward(x, choice.action)}); });
  });
  decider.join();
  fmt::print("{} trainings adopted in {} s\n", live.status().trainings - trainings, seconds);
  Latencies::print("reward, a training under way", rewards.training);
  Latencies::print("reward, none", rewards.idle);
  Latencies::print("decide, a training under way", decisions.training);
  Latencies::print("decide, none", decisions.idle);
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void replay(const std::filesystem::path& directory) {
  const SqliteStore store(directory, Access::read);
  Learner learner(store);
  learner.follow(store.last() / 4 * 3);
  const std::uint64_t before = learner.bandit().agent().events();
  const double start = cpu_seconds();
  learner.follow(store.last());
  const auto learned = static_cast<double>(learner.bandit().agent().events() - before);
  const double taken = cpu_seconds() - start;
  fmt::print("replay on one thread, trainings included: {:.0f} outcomes in {:.2f} s of CPU, {:.0f} per second\n",
             learned, taken, learned / taken);
}

}  // namespace
}  // namespace pits

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("bench_live DIRECTORY [AGENT [OBSERVATIONS [SECONDS]]]\n");
    return 2;
  }
  const std::string agent = argc > 2 ? argv[2] : "pi-ts";
  const auto observations = static_cast<std::size_t>(argc > 3 ? std::atoi(argv[3]) : 100'000);
  const double seconds = argc > 4 ? std::atof(argv[4]) : 10.0;
  const std::filesystem::path directory = std::filesystem::path(argv[1]) / "live";
  {
    auto store = std::make_unique<pits::SqliteStore>(directory);
    pits::LiveBandit::create(*store, {.agent = agent,
                                      .context_size = pits::d,
                                      .actions = {"a", "b", "c", "d", "e", "f", "g"},
                                      .seed = 1,
                                      .config = {.rewards = pits::RewardRule::first}});
    pits::LiveBandit live(std::move(store));
    pits::teach(live, observations);
    pits::measure(live, seconds);
    live.saved();
  }
  pits::replay(directory);
  return 0;
}
