#include "pits/experiment/ranks/cell_queue.h"

namespace pits {

void CellQueue::push(const CellJob& job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  changed_.notify_one();
}

void CellQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

void CellQueue::clear() {
  {
    const std::lock_guard lock(mutex_);
    jobs_.clear();
  }
  close();
}

std::optional<CellJob> CellQueue::pop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || !jobs_.empty(); });
  return take();
}

std::optional<CellJob> CellQueue::try_pop() {
  const std::lock_guard lock(mutex_);
  return take();
}

std::optional<CellJob> CellQueue::take() {
  if (jobs_.empty()) return {};
  const CellJob job = jobs_.front();
  jobs_.pop_front();
  return job;
}

}  // namespace pits
