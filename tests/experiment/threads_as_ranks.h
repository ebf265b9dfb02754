// Ranks that are threads of the test: a mailbox each, letters over queues.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "pits/experiment/ranks.h"

namespace pits::test {

struct PostOffice {
  std::mutex mutex;
  std::vector<std::deque<Mailbox::Received>> boxes;
};

class ThreadMailbox final : public Mailbox {
 public:
  ThreadMailbox(PostOffice& office, int rank) : office_(office), rank_(rank) {}
  int rank() const override { return rank_; }
  int ranks() const override { return static_cast<int>(office_.boxes.size()); }
  std::string place() const override { return "here"; }
  int default_threads() const override { return 1; }
  void send(int to, const Letter& letter) override {
    const std::lock_guard lock(office_.mutex);
    // Through CBOR, as over MPI.
    office_.boxes.at(static_cast<std::size_t>(to)).push_back({rank_, Letter::from_cbor(Letter::to_cbor(letter))});
  }
  std::optional<Received> poll() override {
    const std::lock_guard lock(office_.mutex);
    auto& box = office_.boxes.at(static_cast<std::size_t>(rank_));
    if (box.empty()) return {};
    Received first = std::move(box.front());
    box.pop_front();
    return first;
  }

 private:
  PostOffice& office_;
  int rank_;
};

// Runs program(executor) on every rank as main() would and gives their endings; no letter may be left over.
template <class Program>
std::vector<Ending> on_ranks(int ranks, Program&& program) {
  PostOffice office;
  office.boxes.resize(static_cast<std::size_t>(ranks));
  std::vector<Ending> endings(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto executor = make_rank(std::make_unique<ThreadMailbox>(office, rank));
      Ending mine;
      try {
        program(*executor, rank);
      } catch (...) {
        mine = ending_of_current_exception();
      }
      endings[static_cast<std::size_t>(rank)] = executor->end(mine);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& box : office.boxes) EXPECT_TRUE(box.empty()) << box.size() << " letters were never read";
  return endings;
}

}  // namespace pits::test
