// A disk that fails: an SQLite VFS in front of the system's own, whose opens, writes and syncs fail as told.
#pragma once

#include <sqlite3.h>

#include <atomic>

namespace pits::test {

enum class Call { open, write, sync };

// While it lives, SQLite files that are opened go through it. Only one at a time.
class FaultyDisk {
 public:
  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  // After `after` more such calls the next `times` of them fail with the code, e.g. SQLITE_FULL.
  void fail(Call call, int code, long after = 0, long times = 1);
  void heal();
  long calls(Call call) const { return counts_[static_cast<int>(call)]; }
  long failures() const { return failures_; }
  int answer(Call call);  // SQLITE_OK, or the code

 private:
  sqlite3_vfs* system_;
  sqlite3_vfs shim_;
  std::atomic<long> counts_[3] = {};
  std::atomic<int> call_{0}, code_{SQLITE_OK};
  std::atomic<long> from_{0}, to_{0}, failures_{0};
};

}  // namespace pits::test
