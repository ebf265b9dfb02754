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

  int threads() const { return threads_; }

 private:
  int threads_;
  void* control_;  // tbb::global_control, kept out of this header
};

// body(0), ..., body(n−1), in any order. The first exception stops the loop and reaches the caller. A thread that waits
// for the loop's end takes up nothing from outside it.
void parallel_for(std::size_t n, const std::function<void(std::size_t)>& body);

// How many threads the work of one agent may use, for what the current thread does inside this scope. One by default:
// many agents at a time are the better use of many threads.
class InnerThreads {
 public:
  explicit InnerThreads(int threads);
  ~InnerThreads();
  InnerThreads(const InnerThreads&) = delete;
  InnerThreads& operator=(const InnerThreads&) = delete;

 private:
  int before_;
};
int inner_threads();

// n pieces of one agent's work: in order on this thread, or in parallel where an InnerThreads allows it.
template <class Body>
void inner_for(std::size_t n, const Body& body) {
  if (n > 1 && inner_threads() > 1) return parallel_for(n, std::cref(body));
  for (std::size_t i = 0; i < n; ++i) body(i);
}

}  // namespace pits
