// Parallel loops on oneTBB. A body writes only what its index owns and sums run in a fixed order, so results
// have the same bits for any number of threads.
#pragma once

#include <cstddef>
#include <functional>

namespace pits {

// The number of threads parallel_for uses inside this scope; 0 takes what the machine has.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  void* control_;  // tbb::global_control, kept out of this header
};

// body(0), ..., body(n−1), in any order. The first exception stops the loop and reaches the caller.
void parallel_for(std::size_t n, const std::function<void(std::size_t)>& body);

}  // namespace pits
