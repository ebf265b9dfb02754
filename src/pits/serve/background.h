// Work that may take a while, away from the threads that answer: a bounded number of jobs. One thread does them in
// order.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pits {

class Background {
 public:
  explicit Background(std::size_t most_waiting, int threads = 1);
  ~Background() { stop(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // False where too many wait, or after stop(). A job must not throw.
  bool add(std::function<void()> job);
  // Returns when the jobs that run are done; those that wait are dropped.
  void stop();

 private:
  void run();

  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace pits
