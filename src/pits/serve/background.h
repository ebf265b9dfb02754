// Work that may take a while, away from the threads that answer: one thread, in order, a bounded number of jobs.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace pits {

class Background {
 public:
  explicit Background(std::size_t most_waiting);
  ~Background() { stop(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // False where too many wait, or after stop(). A job must not throw.
  bool add(std::function<void()> job);
  // Returns when the job that runs is done; those that wait are dropped.
  void stop();

 private:
  void run();

  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace pits
