// Computes cells on threads of its own, so that the thread that owns it is free for letters and files.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <vector>

#include "pits/experiment/plan.h"

namespace pits {

class CellWorkers {
 public:
  struct Finished {
    std::size_t cell;
    Trajectory trajectory{};
    std::exception_ptr error{};
  };

  CellWorkers(const Plan& plan, int threads);
  ~CellWorkers() { abandon(); }
  CellWorkers(const CellWorkers&) = delete;
  CellWorkers& operator=(const CellWorkers&) = delete;

  void give(std::size_t cell);
  std::optional<Finished> take();  // does not wait
  std::size_t take_rounds() { return rounds_.exchange(0); }
  // Leaves cells in work unfinished and waits for the threads; finished cells can still be taken.
  void abandon();

 private:
  void work();
  std::optional<std::size_t> next();
  Finished compute(std::size_t cell);

  const Plan& plan_;
  std::mutex mutex_;
  std::condition_variable given_;
  std::queue<std::size_t> open_;
  std::queue<Finished> finished_;
  std::atomic<bool> abandoned_ = false;
  std::atomic<std::size_t> rounds_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace pits
