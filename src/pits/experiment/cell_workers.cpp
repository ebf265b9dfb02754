#include "pits/experiment/cell_workers.h"

#include "pits/experiment/runner.h"

namespace pits {

CellWorkers::CellWorkers(const Plan& plan, int threads) : plan_(plan) {
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {
    abandon();  // the system may have no more threads; those that run must not outlive this
    throw;
  }
}

void CellWorkers::give(std::size_t cell) {
  {
    const std::lock_guard lock(mutex_);
    open_.push(cell);
  }
  given_.notify_one();
}

std::optional<CellWorkers::Finished> CellWorkers::take() {
  const std::lock_guard lock(mutex_);
  if (finished_.empty()) return {};
  Finished first = std::move(finished_.front());
  finished_.pop();
  return first;
}

void CellWorkers::abandon() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  given_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void CellWorkers::work() {
  while (const auto cell = next()) {
    try {
      Finished finished = compute(*cell);
      const std::lock_guard lock(mutex_);
      finished_.push(std::move(finished));
    } catch (const Interrupted&) {
      return;
    }
  }
}

std::optional<std::size_t> CellWorkers::next() {
  std::unique_lock lock(mutex_);
  given_.wait(lock, [&] { return abandoned_ || !open_.empty(); });
  if (abandoned_) return {};
  const std::size_t cell = open_.front();
  open_.pop();
  return cell;
}

CellWorkers::Finished CellWorkers::compute(std::size_t cell) {
  const auto check_in = [&](std::size_t rounds) {
    if (abandoned_) throw Interrupted();
    rounds_ += rounds;
  };
  try {
    return {.cell = cell, .trajectory = plan_.run(plan_.cell(cell), check_in)};
  } catch (const Interrupted&) {
    throw;
  } catch (...) {
    return {.cell = cell, .error = std::current_exception()};
  }
}

}  // namespace pits
