// Durable rewards per second of a fleet on PostgreSQL, beside a plain libpq loop that inserts the same groups.
//
//   bench_fleet URL [ROUNDS [GROUP...]]
//
// Writers are threads that send groups of rewards and wait for each answer: to the server that learns (lin-ts, learned
// in step: a round ends when all is learned), or to one that does not, through the database. The plain loop has a
// connection per writer and inserts one row per group, of as many bytes as the log writes for it. All in one run, in
// turn; the ratios are medians of the rounds.
#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "pits/fleet/fleet.h"

namespace pits {
namespace {

constexpr std::size_t bytes_per_reward = 66;  // of its two events in the log

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// work(writer) on as many threads.
void in_parallel(std::size_t writers, const std::function<void(std::size_t)>& work) {
  std::vector<std::jthread> threads;
  for (std::size_t w = 0; w < writers; ++w) threads.emplace_back([&work, w] { work(w); });
}

double plain_rate(const std::string& url, std::size_t writers, std::size_t group, std::size_t groups) {
  std::vector<std::unique_ptr<Postgres>> connections;
  for (std::size_t w = 0; w < writers; ++w) connections.push_back(std::make_unique<Postgres>(url));
  connections[0]->execute(
      "DROP TABLE IF EXISTS plain; CREATE TABLE plain(bandit bigint, first bigint, bytes bytea, PRIMARY KEY(bandit,"
      " first)); ALTER TABLE plain ALTER bytes SET STORAGE EXTERNAL");
  const std::string bytes(29 + group * bytes_per_reward, 'x');
  const double seconds = seconds_of([&] {
    in_parallel(writers, [&](std::size_t w) {
      for (std::size_t g = w; g < groups; g += writers) {
        connections[w]->run("INSERT INTO plain VALUES($1, $2, $3)", std::int64_t{1}, static_cast<std::int64_t>(g),
                            bytes);
      }
    });
  });
  return static_cast<double>(groups * group) / seconds;
}

void wait_for(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

double fleet_rate(FleetBandit& to, FleetBandit& learner, std::size_t writers, std::size_t group, std::size_t groups) {
  std::vector<DecisionId> ids(group * groups);
  const std::vector<float> x(20, 0.5F);
  for (DecisionId& id : ids) {
    Decided made = to.decider().make(x, {}, {}, nullptr, false);
    id = made.id;
    to.write(std::move(made));
    if (id % 1000 == 0) wait_for([&] { return to.status().queued < 50'000 && to.status().waiting < 50'000; });
  }
  const auto learned = [&] {
    const LiveStatus status = learner.holding()->live.status();
    return status.waiting == 0 && status.learned >= status.committed;
  };
  wait_for([&] { return to.status().queued == 0 && learned(); });
  const double seconds = seconds_of([&] {
    in_parallel(writers, [&](std::size_t w) {
      for (std::size_t g = w; g < groups; g += writers) {
        std::vector<Reward> rewards;
        for (std::size_t i = 0; i < group; ++i) rewards.push_back({.id = ids[g * group + i], .value = 1.0F});
        std::promise<void> done;
        to.reward(std::move(rewards), [&](const std::vector<Answer>& answers, const std::exception_ptr& error) {
          const bool good = !error && std::ranges::count(answers, Answer::accepted) == std::ssize(answers);
          if (!good) fmt::print("a reward was not accepted\n");
          done.set_value();
        });
        done.get_future().get();
      }
    });
    wait_for(learned);
  });
  return static_cast<double>(ids.size()) / seconds;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

int bench(const std::string& url, int rounds, const std::vector<std::size_t>& sizes) {
  Fleet learns({.url = url, .name = "learns"}), follows({.url = url, .name = "follows", .learns = false});
  const std::string name = fmt::format("bench{}", system_clock().utc());
  learns.create(name, {.agent = "lin-ts",
                       .context_size = 20,
                       .actions = {"a", "b", "c", "d", "e", "f", "g"},
                       .seed = 1,
                       .config = {.rewards = RewardRule::first, .window = 0.0}});
  const auto here = learns.open(name), there = follows.open(name);
  here->write(here->decider().make(std::vector<float>(20, 0.5F), {}, {}, nullptr, false));
  wait_for([&] { return here->holding() != nullptr; });
  fmt::print("group  writers   plain/s  at the learner/s  ratio  elsewhere/s  ratio\n");
  for (const std::size_t group : sizes) {
    for (const std::size_t writers : {1U, 2U, 4U, 8U}) {
      const std::size_t groups = std::max<std::size_t>(group == 1 ? 400 : 20'000 / group, 16);
      std::vector<double> plain, direct, other, direct_ratio, other_ratio;
      for (int round = 0; round < rounds; ++round) {
        plain.push_back(plain_rate(url, writers, group, groups));
        direct.push_back(fleet_rate(*here, *here, writers, group, groups));
        other.push_back(fleet_rate(*there, *here, writers, group, groups));
        direct_ratio.push_back(direct.back() / plain.back());
        other_ratio.push_back(other.back() / plain.back());
      }
      fmt::print("{:5}  {:7}  {:8.0f}  {:16.0f}  {:5.2f}  {:11.0f}  {:5.2f}\n", group, writers, median(plain),
                 median(direct), median(direct_ratio), median(other), median(other_ratio));
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace
}  // namespace pits

int main(int argc, char** argv) {
  try {
    if (argc < 2) throw pits::bad_usage("bench_fleet URL [ROUNDS [GROUP...]]");
    std::vector<std::size_t> sizes;
    for (int i = 3; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
    if (sizes.empty()) sizes = {1, 10, 100, 1000};
    return pits::bench(argv[1], argc > 2 ? std::atoi(argv[2]) : 5, sizes);
  } catch (const std::exception& e) {
    fmt::print("bench_fleet: {}\n", e.what());
    return 1;
  }
}
