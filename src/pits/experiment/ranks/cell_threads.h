// Threads that compute the cells of a queue until it is closed and empty, a cell fails, or they are stopped.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "pits/experiment/plan.h"
#include "pits/experiment/ranks/cell_queue.h"

namespace pits {

class CellThreads {
 public:
  // Both are called from the thread of the cell.
  struct Hooks {
    RoundsDone done;
    std::function<void(std::size_t cell, const Trajectory& trajectory)> keep;
  };

  // Where `stop` is raised, cells end as Interrupted.
  CellThreads(const Plan& plan, CellQueue& queue, int threads, const std::atomic<bool>& stop, Hooks hooks);
  ~CellThreads() { abandon(); }
  CellThreads(const CellThreads&) = delete;
  CellThreads& operator=(const CellThreads&) = delete;

  bool running() const { return running_ > 0; }
  std::exception_ptr error();  // the first that a cell threw; null: none
  void join();                 // waits for the end of the queue; throws that error
  void abandon();              // cells in work stay open; waits for the threads

 private:
  void work();
  void compute(const CellJob& job);
  void check_in(std::size_t rounds) const;
  void fail(std::exception_ptr error);

  const Plan& plan_;
  CellQueue& queue_;
  const std::atomic<bool>& stop_;
  Hooks hooks_;
  std::atomic<bool> abandoned_ = false;
  std::atomic<int> running_;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace pits
