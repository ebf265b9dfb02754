#include "pits/experiment/ranks/cell_threads.h"

#include "pits/core/interrupt.h"
#include "pits/core/parallel.h"
#include "pits/experiment/ranks/executor.h"
#include "pits/experiment/run_cell.h"

namespace pits {

CellThreads::CellThreads(const Plan& plan, CellQueue& queue, int threads, const std::atomic<bool>& stop, Hooks hooks)
    : plan_(plan), queue_(queue), stop_(stop), hooks_(std::move(hooks)), running_(threads) {
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {
    abandon();  // the system may have no more threads; those that run must not outlive this
    throw;
  }
}

void CellThreads::work() {
  try {
    while (const auto job = queue_.pop()) compute(*job);
  } catch (...) {
    fail(std::current_exception());
  }
  --running_;
}

void CellThreads::compute(const CellJob& job) {
  const InnerThreads inner(job.threads);
  const InterruptScope interrupt([this] { check_in(0); });
  check_in(0);
  hooks_.keep(job.cell, run_cell(plan_, plan_.cell(job.cell), [this](std::size_t rounds) { check_in(rounds); }));
}

void CellThreads::check_in(std::size_t rounds) const {
  if (stop_ || abandoned_) throw Interrupted();
  hooks_.done(rounds);
}

// What comes after the first error are its consequences.
void CellThreads::fail(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (!error_ && !abandoned_) error_ = std::move(error);
    abandoned_ = true;
  }
  queue_.clear();
}

std::exception_ptr CellThreads::error() {
  const std::lock_guard lock(mutex_);
  return error_;
}

void CellThreads::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  if (const auto thrown = error()) std::rethrow_exception(thrown);
}

void CellThreads::abandon() {
  abandoned_ = true;
  queue_.clear();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace pits
