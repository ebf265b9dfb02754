// An HTTP load generator: how many answers per second, and how late they come.
//
//   load_serve --to 127.0.0.1:8080 --requests decide --connections 64 --seconds 5
//   load_serve --to 127.0.0.1:8080 --requests decide --rate 20000
//
// Without --rate every connection sends its next request when its answer is there (a closed loop): the rate at
// saturation. With it requests arrive by a Poisson process, and latency counts from the arrival that was intended, so
// that a server which stalls cannot hide it. Prints one line of JSON. Counted are the answers to what was due after the
// warm-up. A decide has a context of 20 normal numbers; decide+reward sends the reward of each decision after its
// answer; rewards sends those of decisions that were made before the clock starts.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>

#include "loader.h"

namespace pits::bench_serve {
namespace {

struct Options {
  TrafficConfig traffic;
  LoadConfig load;
  std::string to = "127.0.0.1:8080", body_file;
  std::size_t threads = 1, decisions = 100'000;
  std::uint64_t seed = 1;
  std::vector<int> pids;
};

// User and system seconds of processes, all of their threads.
double cpu_seconds(const std::vector<int>& pids) {
  double total = 0.0;
  for (const int pid : pids) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string text((std::istreambuf_iterator<char>(file)), {});
    std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;  // state to cmajflt
    double user = 0.0, system = 0.0;
    fields >> user >> system;
    total += (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  return total;
}

// Sends a request and returns the body of its reply.
std::string ask(int fd, const std::string& request) {
  for (std::size_t sent = 0; sent < request.size();) {
    const ssize_t n = ::send(fd, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) throw std::runtime_error("the server closed the connection");
    sent += static_cast<std::size_t>(n);
  }
  std::string in;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (n <= 0) throw std::runtime_error("the server closed the connection");
    in.append(buffer.data(), static_cast<std::size_t>(n));
    const std::size_t length = reply_length(in);
    if (length == 0 || in.size() < length) continue;
    if (in.compare(9, 3, "200") != 0) throw std::runtime_error("no decisions: " + in);
    return in;
  }
}

// Decisions whose rewards will be sent.
std::vector<Decision> decide_before(const Options& options, Traffic& traffic, std::size_t n) {
  const int fd = connect_to(options.load.address, options.load.port, 0);
  std::vector<Decision> made;
  while (made.size() < n) {
    for (Decision& decision : Traffic::decisions_in(ask(fd, traffic.decide_many(100))))
      made.push_back(std::move(decision));
  }
  ::close(fd);
  return made;
}

nlohmann::ordered_json latencies(std::vector<std::uint32_t> all, double seconds) {
  if (all.empty()) return nullptr;
  std::ranges::sort(all);
  const auto at = [&](double share) {
    return 1e-3 * all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
  };
  return {{"rate", static_cast<double>(all.size()) / seconds},
          {"p50_us", at(0.5)},
          {"p99_us", at(0.99)},
          {"p999_us", at(0.999)},
          {"max_us", at(1.0)},
          {"n", all.size()}};
}

nlohmann::ordered_json report(const Options& options, const Measured& measured, double cpu) {
  nlohmann::ordered_json out{{"requests", options.traffic.requests},
                             {"batch", options.traffic.batch},
                             {"connections", options.load.connections * options.threads},
                             {"asked_rate", options.load.rate * static_cast<double>(options.threads)},
                             {"seconds", measured.seconds}};
  std::vector<std::uint32_t> all;
  for (std::size_t k = 0; k < kinds; ++k) {
    if (measured.nanoseconds[k].empty()) continue;
    out[kind_names[k]] = latencies(measured.nanoseconds[k], measured.seconds);
    all.insert(all.end(), measured.nanoseconds[k].begin(), measured.nanoseconds[k].end());
  }
  out["all"] = latencies(all, measured.seconds);
  out["late"] = measured.late;
  out["turned_away"] = measured.turned_away;
  out["broken"] = measured.broken;
  out["unanswered"] = measured.unanswered;
  out["refused"] = nlohmann::ordered_json::object();
  for (const auto& [status, count] : measured.refused) out["refused"][std::to_string(status)] = count;
  if (!options.pids.empty()) out["cpu_seconds"] = cpu;
  return out;
}

int run(Options options) {
  const std::size_t colon = options.to.rfind(':');
  options.load.address = options.to.substr(0, colon);
  options.load.port = std::stoi(options.to.substr(colon + 1));
  options.traffic.host = options.to;
  if (!options.body_file.empty()) {
    std::ifstream file(options.body_file, std::ios::binary);
    options.traffic.body.assign(std::istreambuf_iterator<char>(file), {});
  }
  options.load.connections = std::max<std::size_t>(1, options.load.connections / options.threads);
  options.load.rate /= static_cast<double>(options.threads);
  std::vector<std::unique_ptr<Loader>> loaders;
  for (std::size_t i = 0; i < options.threads; ++i) {
    Traffic traffic(options.traffic, options.seed * 1000 + i);
    if (options.traffic.requests == "rewards") {
      traffic.keep(decide_before(options, traffic, options.decisions / options.threads));
    }
    loaders.push_back(std::make_unique<Loader>(options.load, std::move(traffic), options.seed * 1000 + 500 + i));
  }
  const Time start = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  std::vector<std::future<Measured>> running;
  for (auto& loader : loaders) running.push_back(std::async(std::launch::async, [&] { return loader->run(start); }));
  std::this_thread::sleep_until(start + std::chrono::duration<double>(options.load.warmup));
  const double before = cpu_seconds(options.pids);
  Measured all;
  for (auto& one : running) all.add(one.get());
  fmt::print("{}\n", report(options, all, cpu_seconds(options.pids) - before).dump());
  return 0;
}

}  // namespace
}  // namespace pits::bench_serve

int main(int argc, char** argv) {
  pits::bench_serve::Options o;
  CLI::App app("HTTP load, open or closed loop; prints one line of JSON");
  app.add_option("--to", o.to, "ADDRESS:PORT")->capture_default_str();
  app.add_option("--requests", o.traffic.requests)
      ->check(CLI::IsMember({"decide", "decide+reward", "rewards", "fixed"}))
      ->capture_default_str();
  app.add_option("--bandit", o.traffic.bandit)->capture_default_str();
  app.add_option("--decide-path", o.traffic.decide_path, "instead of /v1/bandits/BANDIT/decide");
  app.add_option("--reward-path", o.traffic.reward_path, "instead of /v1/bandits/BANDIT/rewards");
  app.add_option("--method", o.traffic.method, "of fixed requests")->capture_default_str();
  app.add_option("--path", o.traffic.path, "of fixed requests")->capture_default_str();
  app.add_option("--body", o.body_file, "file with the body of fixed requests");
  app.add_option("--key", o.traffic.key, "API key");
  app.add_option("--numbers", o.traffic.numbers, "of a context")->capture_default_str();
  app.add_option("--batch", o.traffic.batch, "rewards or decisions per request")->capture_default_str();
  app.add_option("--tokens", o.traffic.tokens, "send them with rewards")->capture_default_str();
  app.add_option("--decisions", o.decisions, "made before, whose rewards are sent")->capture_default_str();
  app.add_option("--connections", o.load.connections, "of all threads")->capture_default_str();
  app.add_option("--outstanding", o.load.outstanding, "requests per connection")->capture_default_str();
  app.add_option("--rate", o.load.rate, "requests per second; 0: closed loop")->capture_default_str();
  app.add_option("--seconds", o.load.seconds)->capture_default_str();
  app.add_option("--warmup", o.load.warmup, "seconds before")->capture_default_str();
  app.add_option("--deadline", o.load.deadline, "seconds; a later answer counts as late, and who finds no room goes")
      ->capture_default_str();
  app.add_option("--threads", o.threads)->capture_default_str();
  app.add_option("--seed", o.seed)->capture_default_str();
  app.add_option("--pid", o.pids, "processes whose CPU seconds are given")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  try {
    return pits::bench_serve::run(std::move(o));
  } catch (const std::exception& e) {
    fmt::print(stderr, "load_serve: {}\n", e.what());
    return 1;
  }
}
