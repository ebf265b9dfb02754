// The time of the database, which all servers of a fleet share: windows go on where a lease moves between servers whose
// own clocks differ.
#pragma once

#include <atomic>

#include "pits/fleet/postgres.h"
#include "pits/log/clock.h"

namespace pits {

class DatabaseClock : public Clock {
 public:
  explicit DatabaseClock(const Clock& own) : own_(own) {}

  Microseconds utc() const override { return own_.utc() + ahead_; }
  Microseconds steady() const override { return own_.steady(); }
  // Asks for it. An answer that was long on its way says little, and is not taken where there is a better one.
  void read(Postgres& database);

 private:
  static constexpr Microseconds longest_way = 100'000;
  const Clock& own_;
  std::atomic<Microseconds> ahead_{0};  // the database's clock of ours
  bool known_ = false;                  // of the thread that reads
};

inline void DatabaseClock::read(Postgres& database) {
  const Microseconds asked = own_.steady();
  const Rows now = database.run("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
  const Microseconds way = own_.steady() - asked;
  if (known_ && way > longest_way) return;
  ahead_ = now.number(0, 0) + way / 2 - own_.utc();
  known_ = true;
}

}  // namespace pits
