// The process that hands out cells, keeps the results, computes as well, and decides how the program ends. Without a
// channel it is the only one.
#pragma once

#include "pits/experiment/ranks/channel.h"
#include "pits/experiment/ranks/executor.h"

namespace pits {

class CellQueue;
class CellThreads;

class Coordinator final : public Executor {
 public:
  explicit Coordinator(std::unique_ptr<Channel> channel);
  bool leads() const override { return true; }
  void run(const Plan& plan, Results* results, int threads, const std::atomic<bool>& stop,
           const RoundsDone& done) override;
  ExitStatus end(const ExitStatus& mine) override;

 private:
  // A plan in work.
  struct Work {
    Results& results;
    const RoundsDone& done;
    CellQueue& queue;
    std::size_t remote = 0;  // cells that other ranks compute now
  };

  std::size_t ranks() const { return arrived_.size(); }
  void note_arrival(Channel::Received& received);
  bool all_arrived();
  void await_workers(const Plan& plan, const std::atomic<bool>& stop);
  void deal(const std::vector<std::size_t>& open, int own_threads, Work& work);
  void serve(CellThreads& own, Work& work, const std::atomic<bool>& stop);
  void take(const Channel::Received& received, Work& work);
  void send_cell(std::size_t rank, int threads, Work& work);
  void send_to_all(const Message& message);
  void dismiss(bool from_program, CellThreads* own, Results* results);

  std::unique_ptr<Channel> channel_;  // null: no other ranks
  std::vector<Message> arrived_;      // of each rank: null, or its message "ready" or "end"
  bool dismissed_ = false;
};

// The executor of this rank.
std::unique_ptr<Executor> make_rank(std::unique_ptr<Channel> channel);

}  // namespace pits
