#include "pits/core/parallel.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "pits/core/error.h"

namespace pits {

ThreadScope::ThreadScope(int threads) {
  if (threads < 0) throw bad_input("threads must be at least 0 (all), not {}", threads);
  threads_ = threads > 0 ? threads : tbb::info::default_concurrency();
  control_ = new tbb::global_control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads_));
}

ThreadScope::~ThreadScope() { delete static_cast<tbb::global_control*>(control_); }

// A grain of one: bodies here are whole cells of a sweep or whole particles, never single numbers.
void parallel_for(std::size_t n, const std::function<void(std::size_t)>& body) {
  tbb::this_task_arena::isolate([&] { tbb::parallel_for(std::size_t{0}, n, body, tbb::simple_partitioner()); });
}

namespace {
thread_local int inner = 1;
}

InnerThreads::InnerThreads(int threads) : before_(inner) {
  if (threads < 1) throw bad_input("an agent needs at least 1 thread, not {}", threads);
  inner = threads;
}

InnerThreads::~InnerThreads() { inner = before_; }

int inner_threads() { return inner; }

}  // namespace pits
