// Ranks that are threads of the test: a channel each, messages over queues.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "pits/experiment/ranks/coordinator.h"

namespace pits::test {

struct Network {
  std::mutex mutex;
  std::vector<std::deque<Channel::Received>> queues;
};

class ThreadChannel final : public Channel {
 public:
  ThreadChannel(Network& network, int rank) : network_(network), rank_(rank) {}
  int rank() const override { return rank_; }
  int ranks() const override { return static_cast<int>(network_.queues.size()); }
  std::string host() const override { return "here"; }
  int default_threads() const override { return 1; }
  void send(int to, const Message& message) override {
    const std::lock_guard lock(network_.mutex);
    // Through CBOR, as over MPI.
    network_.queues.at(static_cast<std::size_t>(to)).push_back({rank_, Message::from_cbor(Message::to_cbor(message))});
  }
  std::optional<Received> poll() override {
    const std::lock_guard lock(network_.mutex);
    auto& queue = network_.queues.at(static_cast<std::size_t>(rank_));
    if (queue.empty()) return {};
    Received first = std::move(queue.front());
    queue.pop_front();
    return first;
  }

 private:
  Network& network_;
  int rank_;
};

// Runs program(executor) on every rank as main() would and gives their exit statuses; no message may be left over.
template <class Program>
std::vector<ExitStatus> on_ranks(int ranks, Program&& program) {
  Network network;
  network.queues.resize(static_cast<std::size_t>(ranks));
  std::vector<ExitStatus> statuses(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto executor = make_rank(std::make_unique<ThreadChannel>(network, rank));
      ExitStatus mine;
      try {
        program(*executor, rank);
      } catch (...) {
        mine = status_of_current_exception();
      }
      statuses[static_cast<std::size_t>(rank)] = executor->end(mine);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& queue : network.queues) EXPECT_TRUE(queue.empty()) << queue.size() << " messages were never read";
  return statuses;
}

}  // namespace pits::test
