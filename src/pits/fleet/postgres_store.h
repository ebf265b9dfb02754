// The log of one bandit in a database that a fleet shares. Whoever writes holds the bandit's lease: every write names
// the lease's epoch and changes or locks the bandit's row in the same transaction, and so does whoever takes the lease
// over. One of the two commits first, and the other is refused (docs/decisions/postgresql.md).
#pragma once

#include <atomic>
#include <deque>
#include <limits>

#include "pits/fleet/postgres.h"
#include "pits/log/store.h"

namespace pits {

using BanditId = std::int64_t;
using Epoch = std::int64_t;  // of a lease; 0: none, for reading only

class PostgresStore : public Store {
 public:
  PostgresStore(std::shared_ptr<PostgresPool> pool, BanditId bandit, Epoch epoch = 0);

  void commit(const Commit& commit) override;
  std::optional<GroupReader> group(EventNumber number) const override;
  std::string page(std::uint64_t page) const override;
  std::string recovery() const override;
  std::optional<DecisionId> decision_of(std::string_view key) const override;
  void keep(const Snapshot& snapshot) override;
  void drop_snapshot(EventNumber number) override;
  std::vector<Snapshot> snapshots() const override;
  Snapshot snapshot(EventNumber number) const override;
  void publish(const PolicyVersion& version) override;
  void rewrite(EventNumber first, std::string_view group, const std::vector<std::string>& forgotten_keys) override;
  void drop_events(EventNumber oldest, std::string_view summary,
                   const std::vector<std::string>& forgotten_keys) override;
  EventNumber oldest() const override;

  // The newest one that was published. Where there is none, one without a policy for the newest snapshot.
  std::optional<PolicyVersion> version() const;

  // Nothing can be written any more: the lease is another's, or it is not known whether the last commit has happened.
  // Whoever wants to go on takes the lease anew and reads the log.
  bool lost() const { return lost_; }
  void give_up() { lost_ = true; }

 private:
  struct Cached {
    EventNumber first, last;
    std::string bytes;
  };

  template <class... Values>
  Rows read(std::string_view sql, const Values&... values) const;
  template <class... Values>
  Rows read_within(std::chrono::milliseconds most, std::string_view sql, const Values&... values) const;
  // A change, as part of the statement that proves the lease.
  template <class... Values>
  void fenced(const char* column, EventNumber at_least, std::string_view change, const Values&... values);
  void check_held() const;
  [[noreturn]] void lose();
  bool happened(EventNumber last_before, EventNumber last_after);
  void remember(EventNumber first, std::string bytes) const;
  void forget_recent();
  // The partition that holds the event, or the next earlier one that may; none: it is in no partition.
  std::optional<std::int64_t> part_of(EventNumber number,
                                      std::int64_t below = std::numeric_limits<std::int64_t>::max()) const;

  std::shared_ptr<PostgresPool> pool_;
  BanditId bandit_;
  std::atomic<Epoch> epoch_;
  std::atomic<bool> lost_{false};
  mutable std::mutex mutex_;           // of what follows
  mutable std::deque<Cached> recent_;  // groups that were written or read last
  mutable std::size_t recent_bytes_ = 0;
  mutable EventNumber next_ = 0;  // that a reader who goes on will ask for
};

// The bandit with this name; none where there is none, or no event of it yet.
std::optional<BanditId> find_bandit(Postgres& database, std::string_view name);

}  // namespace pits
