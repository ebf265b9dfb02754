// A store in a directory: DIR/events.db and DIR/snapshots.db, SQLite files in WAL mode with synchronous=FULL, so that
// what was committed survives a loss of power. One process at a time opens a store for writing, and one connection per
// file writes and checkpoints; all other connections are read-only (docs/decisions/sqlite.md).
#pragma once

#include <filesystem>
#include <memory>

#include "pits/log/sqlite_snapshots.h"

namespace pits {

class SqliteStore : public Store {
 public:
  // For writing the directory is created where it is not there; for reading it must hold a log.
  explicit SqliteStore(const std::filesystem::path& directory, Access access = Access::write);
  ~SqliteStore() override;

  void commit(const Commit& commit) override;
  void rest() override;
  std::optional<GroupReader> group(EventNumber number) const override;
  std::string page(std::uint64_t page) const override;
  std::string recovery() const override;
  std::optional<DecisionId> decision_of(std::string_view key) const override;
  void keep(const Snapshot& snapshot) override;
  void drop_snapshot(EventNumber number) override;
  std::vector<Snapshot> snapshots() const override;
  Snapshot snapshot(EventNumber number) const override;
  std::string damage() const override { return snapshots_->damage(); }
  void rewrite(EventNumber first, std::string_view group, const std::vector<std::string>& forgotten_keys) override;
  void drop_events(EventNumber oldest, std::string_view summary,
                   const std::vector<std::string>& forgotten_keys) override;
  EventNumber oldest() const override;

 private:
  struct Lock;
  struct EventWriter;
  struct EventReader;

  // Throw where the store was opened for reading.
  EventWriter& event_writer();
  SqliteSnapshots& snapshots_to_write();

  std::filesystem::path directory_;
  // In this order: the lock is taken first, and a reader needs the file that a writer has made.
  std::unique_ptr<Lock> lock_;
  std::unique_ptr<EventWriter> event_writer_;
  std::unique_ptr<EventReader> event_reader_;
  std::unique_ptr<SqliteSnapshots> snapshots_;
};

}  // namespace pits
