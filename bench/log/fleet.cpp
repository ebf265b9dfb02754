// What a fleet on PostgreSQL does per second, beside plainer things in the same run.
//
//   bench_fleet URL rewards [ROUNDS [GROUP...]]   durable rewards, beside a plain libpq loop
//   bench_fleet URL servers [ROUNDS]              1, 2 and 4 servers with 8 writers in all
//   bench_fleet URL decisions [ROUNDS]            decisions made and written, beside the embedded store
//   bench_fleet URL idle [BANDITS]                mostly idle bandits: time, memory, processor, leases
//
// Writers are threads that send groups of rewards and wait for each answer; lin-ts, learned in step: a round ends when
// all is learned. The plain loop has a connection per writer and inserts one row per group, of as many bytes as the log
// writes for it. Rounds are interleaved and take about half a second; ratios are medians of the ratios of rounds.
#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "measure.h"
#include "pits/fleet/fleet.h"
#include "pits/log/sqlite_store.h"

namespace pits {
namespace {

constexpr std::size_t bytes_per_reward = 66;  // of its two events in the log
constexpr double round_seconds = 0.5;
const std::vector<float> context(20, 0.5F);

LiveSetup lin_ts() {
  return {.agent = "lin-ts",
          .context_size = context.size(),
          .actions = {"a", "b", "c", "d", "e", "f", "g"},
          .seed = 1,
          .config = {.rewards = RewardRule::first, .window = 0.0}};
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

void wait_until_learned(const std::vector<std::shared_ptr<FleetBandit>>& servers) {
  wait_for([&] {
    const auto learner = std::ranges::find_if(servers, [](const auto& s) { return s->holding() != nullptr; });
    if (learner == servers.end()) return false;
    const LiveStatus status = (*learner)->status();
    return std::ranges::all_of(servers, [](const auto& s) { return s->status().queued == 0; }) && status.held &&
           status.waiting == 0 && status.learned >= status.committed;
  });
}

// Makes so many decisions at one server and hands them to the log.
std::vector<DecisionId> decide(FleetBandit& to, std::size_t count) {
  std::vector<DecisionId> ids(count);
  for (DecisionId& id : ids) {
    Decided made = to.decider().make(context, {}, {}, nullptr, false);
    id = made.id;
    if (!to.write(std::move(made))) throw failed("a decision was not logged");
    if (id % 512 == 0) wait_for([&] { return to.status().queued < 20'000 && to.status().waiting < 20'000; });
  }
  return ids;
}

// Writers w, w + writers... send groups of the rewards and wait for each answer.
void reward(FleetBandit& to, const std::vector<DecisionId>& ids, std::size_t group, std::size_t writers,
            std::size_t w) {
  for (std::size_t start = w * group; start + group <= ids.size(); start += writers * group) {
    std::vector<Reward> rewards;
    for (std::size_t i = 0; i < group; ++i) rewards.push_back({.id = ids[start + i], .value = 1.0F});
    std::promise<bool> done;
    to.reward(std::move(rewards), [&](const std::vector<Answer>& answers, const std::exception_ptr& error) {
      done.set_value(!error && std::ranges::count(answers, Answer::accepted) == std::ssize(answers));
    });
    if (!done.get_future().get()) throw failed("a reward was not accepted");
  }
}

double reward_rate(const std::vector<std::shared_ptr<FleetBandit>>& servers, FleetBandit& to, std::size_t writers,
                   std::size_t group, std::size_t groups) {
  const std::vector<DecisionId> ids = decide(to, group * groups);
  wait_until_learned(servers);
  const double seconds = seconds_of([&] {
    in_parallel(writers, [&](std::size_t w) { reward(to, ids, group, writers, w); });
    wait_until_learned(servers);
  });
  return static_cast<double>(ids.size()) / seconds;
}

// A bandit that all the servers have opened, and somebody learns.
std::vector<std::shared_ptr<FleetBandit>> shared_bandit(std::vector<std::unique_ptr<Fleet>>& servers) {
  const std::string name = fmt::format("bench{}", system_clock().utc());
  servers.front()->create(name, lin_ts());
  std::vector<std::shared_ptr<FleetBandit>> open;
  for (const auto& server : servers) open.push_back(server->open(name));
  decide(*open.front(), 1);
  wait_until_learned(open);
  return open;
}

std::vector<std::unique_ptr<Fleet>> fleet(const std::string& url, std::size_t servers, bool all_learn = false) {
  std::vector<std::unique_ptr<Fleet>> all;
  for (std::size_t i = 0; i < servers; ++i) {
    all.push_back(std::make_unique<Fleet>(FleetConfig{.url = url, .learns = all_learn || i == 0}));
  }
  return all;
}

// So many groups that a round takes about as long as it should.
std::size_t groups_of(double rate, std::size_t group) {
  return std::clamp<std::size_t>(static_cast<std::size_t>(rate * round_seconds) / group, 16, 200'000 / group);
}

void bench_rewards(const std::string& url, int rounds, const std::vector<std::size_t>& sizes) {
  auto servers = fleet(url, 2);
  const auto open = shared_bandit(servers);
  fmt::print("group  writers   plain/s  at the learner/s  ratio  elsewhere/s  ratio\n");
  for (const std::size_t group : sizes) {
    for (const std::size_t writers : {1U, 2U, 4U, 8U}) {
      const auto plain_of = [&](std::size_t groups) { return plain_rate(url, writers, group, groups); };
      const auto at = [&](std::size_t i, std::size_t groups) {
        return reward_rate(open, *open[i], writers, group, groups);
      };
      std::vector<double> plain{plain_of(32)}, here{at(0, 32)}, there{at(1, 32)}, here_ratio, there_ratio;
      for (int round = 0; round < rounds; ++round) {
        plain.push_back(plain_of(groups_of(plain.back(), group)));
        here.push_back(at(0, groups_of(here.back(), group)));
        there.push_back(at(1, groups_of(there.back(), group)));
        here_ratio.push_back(here.back() / plain.back());
        there_ratio.push_back(there.back() / plain.back());
      }
      fmt::print("{:5}  {:7}  {:8.0f}  {:16.0f}  {:5.2f}  {:11.0f}  {:5.2f}\n", group, writers, median(plain),
                 median(here), median(here_ratio), median(there), median(there_ratio));
      std::fflush(stdout);
    }
  }
}

void bench_servers(const std::string& url, int rounds) {
  constexpr std::size_t group = 100, writers = 8, decisions = 40'000;
  fmt::print("servers  decisions in the log/s  rewards/s, groups of {}, {} writers\n", group, writers);
  std::map<std::size_t, std::vector<double>> made, rewarded;
  for (int round = 0; round < rounds; ++round) {
    for (const std::size_t n : {1U, 2U, 4U}) {
      auto servers = fleet(url, n);
      const auto open = shared_bandit(servers);
      std::vector<std::vector<DecisionId>> ids(n);
      made[n].push_back(decisions / seconds_of([&] {
                          in_parallel(n, [&](std::size_t s) { ids[s] = decide(*open[s], decisions / n); });
                          wait_until_learned(open);
                        }));
      rewarded[n].push_back(decisions / seconds_of([&] {
                              in_parallel(writers, [&](std::size_t w) {
                                reward(*open[w % n], ids[w % n], group, writers / n, w / n);
                              });
                              wait_until_learned(open);
                            }));
    }
  }
  for (const auto& [n, rates] : made) fmt::print("{:7}  {:22.0f}  {:9.0f}\n", n, median(rates), median(rewarded[n]));
}

void bench_decisions(const std::string& url, int rounds) {
  constexpr std::size_t decisions = 10'000;
  auto servers = fleet(url, 2);
  const auto open = shared_bandit(servers);
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("bench_fleet{}", system_clock().utc());
  auto store = std::make_unique<SqliteStore>(directory);
  LiveBandit::create(*store, lin_ts());
  auto embedded = std::make_unique<LiveBandit>(std::move(store));
  std::vector<double> alone, here, there, here_ratio, there_ratio;
  const auto to_fleet = [&](std::size_t server) {
    const double seconds = processor_seconds_of([&] { decide(*open[server], decisions); });
    wait_until_learned(open);
    return decisions / seconds;
  };
  for (int round = 0; round < rounds; ++round) {
    alone.push_back(decisions / processor_seconds_of([&] {
                      for (std::size_t i = 0; i < decisions; ++i) embedded->write(embedded->make(context));
                    }));
    embedded->flush();
    here.push_back(to_fleet(0));
    there.push_back(to_fleet(1));
    here_ratio.push_back(here.back() / alone.back());
    there_ratio.push_back(there.back() / alone.back());
  }
  fmt::print("decisions made and handed to the log per second of the deciding thread's processor time\n");
  fmt::print("embedded/s  at the learner/s  ratio  elsewhere/s  ratio\n");
  fmt::print("{:10.0f}  {:16.0f}  {:5.2f}  {:11.0f}  {:5.2f}\n", median(alone), median(here), median(here_ratio),
             median(there), median(there_ratio));
  embedded.reset();
  std::filesystem::remove_all(directory);
}

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0.0, resident = 0.0;
  file >> all >> resident;
  return resident * 4096.0 / 1e6;
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

void bench_idle(const std::string& url, std::size_t bandits) {
  auto servers = fleet(url, 2, true);
  const std::string run = fmt::format("{}", system_clock().utc());
  const auto name = [&](std::size_t i) { return fmt::format("idle{}-{}", run, i); };
  const double create = seconds_of([&] {
    in_parallel(8, [&](std::size_t w) {
      for (std::size_t i = w; i < bandits; i += 8) servers[0]->create(name(i), lin_ts());
    });
  });
  fmt::print("{} bandits: created in {:.1f} s\n", bandits, create);
  const double before = resident_megabytes();
  std::vector<std::shared_ptr<FleetBandit>> open;
  const double opened = seconds_of([&] {
    for (std::size_t i = 0; i < bandits; ++i) open.push_back(servers[0]->open(name(i)));
  });
  fmt::print("opened at one server in {:.1f} s: {:.0f} MB, {:.0f} kB per bandit\n", opened,
             resident_megabytes() - before, 1000.0 * (resident_megabytes() - before) / static_cast<double>(bandits));
  const auto leases = [&] { return std::ranges::count_if(open, [](const auto& b) { return b->holding() != nullptr; }); };
  const auto idle = [&](const char* what) {
    const double start = processor_seconds();
    std::this_thread::sleep_for(std::chrono::seconds(10));
    fmt::print("{}: {:.1f} % of a core for two servers, {} leases\n", what, 10.0 * (processor_seconds() - start),
               leases());
  };
  idle("no calls");
  const double first = seconds_of([&] { reward(*open[0], decide(*open[0], 1), 1, 1, 0); });
  const double second = seconds_of([&] { reward(*open[0], decide(*open[0], 1), 1, 1, 0); });
  fmt::print("first reward of one that nobody held: {:.0f} ms; the next: {:.1f} ms\n", 1000 * first, 1000 * second);
  for (std::size_t i = 0; i < bandits; i += 100) decide(*open[i], 1);
  idle("one of 100 was called");
}

int bench(const std::vector<std::string>& words) {
  if (words.size() < 2) throw bad_usage("bench_fleet URL rewards|servers|decisions|idle [NUMBER...]");
  const auto number = [&](std::size_t i, std::size_t other) {
    return i < words.size() ? static_cast<std::size_t>(std::stoull(words[i])) : other;
  };
  const int rounds = static_cast<int>(number(2, 5));
  std::vector<std::size_t> sizes;
  for (std::size_t i = 3; i < words.size(); ++i) sizes.push_back(number(i, 0));
  if (sizes.empty()) sizes = {1, 10, 100, 1000};
  if (words[1] == "rewards") bench_rewards(words[0], rounds, sizes);
  if (words[1] == "servers") bench_servers(words[0], rounds);
  if (words[1] == "decisions") bench_decisions(words[0], rounds);
  if (words[1] == "idle") bench_idle(words[0], number(2, 10'000));
  return 0;
}

}  // namespace
}  // namespace pits

int main(int argc, char** argv) {
  try {
    return pits::bench({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    fmt::print("bench_fleet: {}\n", e.what());
    return 1;
  }
}
