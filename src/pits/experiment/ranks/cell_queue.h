// Cells that wait to be computed. The threads of a process take from it; so does the coordinator, for other ranks.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace pits {

struct CellJob {
  std::size_t cell;
  int threads = 1;  // that its agent may use
};

class CellQueue {
 public:
  void push(const CellJob& job);
  // No more jobs will come.
  void close();
  // Also those that are there are dropped.
  void clear();

  std::optional<CellJob> pop();      // waits for one; none once the queue is closed and empty
  std::optional<CellJob> try_pop();  // none where none is there now

 private:
  std::optional<CellJob> take();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<CellJob> jobs_;
  bool closed_ = false;
};

}  // namespace pits
