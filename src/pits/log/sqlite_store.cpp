#include "pits/log/sqlite_store.h"

#include <mutex>

#include "pits/core/io/files.h"
#include "pits/log/sqlite_file.h"

namespace pits {
namespace {

using Path = std::filesystem::path;

// Pages of the write-ahead log that are moved into the file at once at rest, where a reward that comes meanwhile waits
// at most a few tenths of a millisecond, and for the disk.
constexpr int resting_wal_pages = 256;
constexpr const char* events_file = "events.db";
constexpr const char* snapshots_file = "snapshots.db";

}  // namespace

struct SqliteStore::Lock {
  explicit Lock(const Path& directory) : held(directory) {}
  DirectoryLock held;
};

struct SqliteStore::EventWriter {
  explicit EventWriter(const Path& file)
      : database(log_file_for_writing(file,
                                      "CREATE TABLE events(first INTEGER PRIMARY KEY, bytes BLOB NOT NULL);"
                                      "CREATE TABLE pages(page INTEGER PRIMARY KEY, bytes BLOB NOT NULL);"
                                      "CREATE TABLE keys(key BLOB PRIMARY KEY, decision INTEGER) WITHOUT ROWID;"
                                      "CREATE TABLE recovery(one INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")) {}

  std::mutex mutex;
  Database database;
  bool erased = false;  // something, whose bytes may still be in the write-ahead log or in pages that it replaces
  Statement insert{database, "INSERT INTO events VALUES(?1, ?2)"};
  Statement update{database, "UPDATE events SET bytes = ?2 WHERE first = ?1"};
  Statement drop{database, "DELETE FROM events WHERE first > 1 AND first < ?1"};
  Statement page{database, "INSERT OR REPLACE INTO pages VALUES(?1, ?2)"};
  Statement key{database, "INSERT INTO keys VALUES(?1, ?2)"};
  Statement forget{database, "DELETE FROM keys WHERE key = ?1"};
  Statement recovery{database, "INSERT OR REPLACE INTO recovery VALUES(1, ?1)"};
};

struct SqliteStore::EventReader {
  explicit EventReader(const Path& file) : database(log_file_for_reading(file)) {}

  std::mutex mutex;
  Database database;
  Statement group{database, "SELECT first, bytes FROM events WHERE first <= ?1 ORDER BY first DESC LIMIT 1"};
  Statement second{database, "SELECT min(first) FROM events WHERE first > 1"};
  Statement page{database, "SELECT bytes FROM pages WHERE page = ?1"};
  Statement key{database, "SELECT decision FROM keys WHERE key = ?1"};
  Statement recovery{database, "SELECT bytes FROM recovery"};
};

SqliteStore::SqliteStore(const Path& directory, Access access) : directory_(directory) {
  if (access == Access::write) {
    create_directories_durably(directory);
    lock_ = std::make_unique<Lock>(directory);
    event_writer_ = std::make_unique<EventWriter>(directory / events_file);
  } else if (!std::filesystem::exists(directory / events_file)) {
    throw bad_input("'{}' holds no log: there is no {}; a bandit's log in the store of a service is STORE/NAME",
                    directory.string(), events_file);
  }
  event_reader_ = std::make_unique<EventReader>(directory / events_file);
  const bool has_events = event_reader_->database.number("SELECT 1 FROM events LIMIT 1") > 0;
  snapshots_ = std::make_unique<SqliteSnapshots>(directory / snapshots_file, access, has_events);
}

SqliteStore::~SqliteStore() = default;

SqliteStore::EventWriter& SqliteStore::event_writer() {
  if (!event_writer_) throw failed("the log '{}' was opened for reading only", directory_.string());
  return *event_writer_;
}

SqliteSnapshots& SqliteStore::snapshots_to_write() {
  event_writer();
  return *snapshots_;
}

void SqliteStore::commit(const Commit& commit) {
  EventWriter& to = event_writer();
  const std::scoped_lock lock(to.mutex);
  to.database.transaction([&] {
    if (!commit.group.empty()) to.insert.bind(integer(commit.first), std::string_view(commit.group)).run();
    for (const auto& [page, bytes] : commit.pages) to.page.bind(integer(page), std::string_view(bytes)).run();
    for (const auto& [key, decision] : commit.keys) to.key.bind(std::string_view(key), integer(decision)).run();
    if (commit.recovery) to.recovery.bind(std::string_view(*commit.recovery)).run();
  });
  to.database.checkpoint(most_wal_pages);
}

void SqliteStore::rest() {
  EventWriter& to = event_writer();
  const std::scoped_lock lock(to.mutex);
  if (to.erased) {
    to.erased = !to.database.truncate_wal();
  } else {
    to.database.checkpoint(resting_wal_pages);
  }
}

std::optional<GroupReader> SqliteStore::group(EventNumber number) const {
  EventReader& from = *event_reader_;
  std::optional<std::pair<EventNumber, std::string>> found;
  {
    const std::scoped_lock lock(from.mutex);
    for (from.group.bind(integer(number)); from.group.step();) {
      found.emplace(natural(from.group.number(0)), from.group.text(1));
    }
  }
  if (!found) return std::nullopt;
  return GroupReader(std::move(found->second), found->first);
}

std::string SqliteStore::page(std::uint64_t page) const {
  EventReader& from = *event_reader_;
  const std::scoped_lock lock(from.mutex);
  std::string bytes;
  for (from.page.bind(integer(page)); from.page.step();) bytes = from.page.text(0);
  return bytes;
}

std::string SqliteStore::recovery() const {
  EventReader& from = *event_reader_;
  const std::scoped_lock lock(from.mutex);
  std::string bytes;
  for (from.recovery.bind(); from.recovery.step();) bytes = from.recovery.text(0);
  return bytes;
}

std::optional<DecisionId> SqliteStore::decision_of(std::string_view key) const {
  EventReader& from = *event_reader_;
  const std::scoped_lock lock(from.mutex);
  std::optional<DecisionId> id;
  for (from.key.bind(key); from.key.step();) id = natural(from.key.number(0));
  return id;
}

void SqliteStore::rewrite(EventNumber first, std::string_view group, const std::vector<std::string>& forgotten_keys) {
  EventWriter& to = event_writer();
  const std::scoped_lock lock(to.mutex);
  to.database.transaction([&] {
    to.update.bind(integer(first), group).run();
    for (const std::string& key : forgotten_keys) to.forget.bind(std::string_view(key)).run();
  });
  to.erased = true;
  to.database.checkpoint(most_wal_pages);
}

void SqliteStore::drop_events(EventNumber oldest, std::string_view summary,
                              const std::vector<std::string>& forgotten_keys) {
  EventWriter& to = event_writer();
  const std::scoped_lock lock(to.mutex);
  to.database.transaction([&] {
    to.drop.bind(integer(oldest)).run();
    to.update.bind(std::int64_t{1}, summary).run();
    for (const std::string& key : forgotten_keys) to.forget.bind(std::string_view(key)).run();
  });
  to.erased = true;
  to.database.checkpoint(most_wal_pages);
}

EventNumber SqliteStore::oldest() const {
  EventReader& from = *event_reader_;
  EventNumber second = 0;
  {
    const std::scoped_lock lock(from.mutex);
    for (from.second.bind(); from.second.step();) second = natural(from.second.number(0));
  }
  const auto first = group(1);
  return first && second > first->last() + 1 ? second : 0;
}

void SqliteStore::keep(const Snapshot& snapshot) { snapshots_to_write().keep(snapshot); }

void SqliteStore::drop_snapshot(EventNumber number) { snapshots_to_write().drop(number); }

std::vector<Snapshot> SqliteStore::snapshots() const { return snapshots_->list(); }

Snapshot SqliteStore::snapshot(EventNumber number) const {
  auto found = snapshots_->find(number);
  if (!found) throw failed("'{}' has no snapshot of event {}", directory_.string(), number);
  return *std::move(found);
}

}  // namespace pits
