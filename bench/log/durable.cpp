// Durable rewards per second in groups, beside append + fdatasync of the same bytes on the same disk in the same run.
//
//   bench_log DIRECTORY [GROUP [ROUNDS]]
//
// A round is 200 groups of each, one by one in turn, so that what else the machine does disturbs both alike. A reward
// in the log is two events: it came, and its decision settled.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>

#include "pits/log/ledger.h"
#include "pits/log/sqlite_store.h"

namespace pits {
namespace {

constexpr int groups = 200;  // per round

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Counts the bytes of groups.
class CountingStore : public SqliteStore {
 public:
  using SqliteStore::SqliteStore;
  void commit(const Commit& commit) override {
    bytes = commit.group;
    SqliteStore::commit(commit);
  }
  std::string bytes;
};

class Bench {
 public:
  Bench(const std::filesystem::path& directory, int group)
      : group_(group),
        store_(directory / "log"),
        file_(::open((directory / "append").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644)) {
    Created created;
    created.actions = {"a", "b"};
    created.config = as_text({.rewards = RewardRule::first, .window = 1e6});
    Ledger::create(store_, system_clock(), created);
    ledger_ = std::make_unique<Ledger>(store_, system_clock());
  }
  ~Bench() { ::close(file_); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void decide() {
    ledger_->begin_group();
    for (int i = 0; i < groups * group_; ++i) {
      Decided decided;
      decided.id = decided_++;
      decided.x.assign(20, 0.5F);
      decided.propensities.assign(7, 1.0F / 7.0F);
      ledger_->decide(decided);
    }
    ledger_->commit();
  }
  void reward() {
    ledger_->begin_group();
    for (int i = 0; i < group_; ++i) ledger_->reward({rewarded_++, 1.0F, "click"});
    ledger_->commit();
  }
  void append() {
    if (::write(file_, store_.bytes.data(), store_.bytes.size()) < 0 || ::fdatasync(file_) != 0) std::abort();
  }
  std::size_t bytes() const { return store_.bytes.size(); }

 private:
  int group_;
  CountingStore store_;
  int file_;
  std::unique_ptr<Ledger> ledger_;
  DecisionId decided_ = 0, rewarded_ = 0;
};

}  // namespace
}  // namespace pits

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("bench_log DIRECTORY [GROUP [ROUNDS]]\n");
    return 2;
  }
  const int group = argc > 2 ? std::atoi(argv[2]) : 100;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 15;
  pits::Bench bench(argv[1], group);
  std::vector<double> log, append, ratio;
  for (int round = 0; round < rounds; ++round) {
    bench.decide();
    double in_log = 0.0, appended = 0.0;
    for (int g = 0; g < pits::groups; ++g) {
      in_log += pits::seconds([&] { bench.reward(); });
      appended += pits::seconds([&] { bench.append(); });
    }
    log.push_back(pits::groups * group / in_log);
    append.push_back(pits::groups * group / appended);
    ratio.push_back(appended / in_log);
  }
  fmt::print(
      "groups of {} rewards, {} bytes: log {:.0f}/s, append + fdatasync {:.0f}/s, ratio {:.2f} [{:.2f} to {:.2f}]\n",
      group, bench.bytes(), pits::median(log), pits::median(append), pits::median(ratio),
      *std::ranges::min_element(ratio), *std::ranges::max_element(ratio));
  return 0;
}
