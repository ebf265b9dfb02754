#include "pits/log/sqlite_snapshots.h"

#include <mutex>

#include "pits/core/io/files.h"
#include "pits/log/sqlite_file.h"

namespace pits {
namespace {

using Path = std::filesystem::path;

constexpr const char* small_cache = "PRAGMA cache_size=-64";  // in kB: nobody reads a snapshot's pages twice

// Reads the whole file: one that is damaged anywhere cannot be written to. What is inside a snapshot has a checksum of
// its own.
void check_structure(const Database& database, const Path& file) {
  Statement check(database, "PRAGMA quick_check(1)");
  if (check.step() && check.text(0) != "ok") throw bad_input("cannot read '{}': {}", file.string(), check.text(0));
}

Path damaged(const Path& file) { return file.string() + ".damaged"; }

// With what SQLite keeps beside it. One that was damaged before is replaced.
void move_away(const Path& file) {
  for (const char* part : {"-wal", "-shm", ""}) {
    const std::string from = file.string() + part, to = damaged(file).string() + part;
    std::error_code error;
    std::filesystem::rename(from, to, error);
    if (error) std::filesystem::remove(to, error);  // there is no such part now
  }
  if (std::filesystem::exists(file)) throw failed("cannot rename '{}'", file.string());
  sync_directory(file.parent_path());
}

}  // namespace

struct SqliteSnapshots::Writer {
  explicit Writer(const Path& file)
      : database(log_file_for_writing(file,
                                      "CREATE TABLE snapshots(number INTEGER PRIMARY KEY, engine BLOB NOT NULL,"
                                      "base INTEGER NOT NULL, bytes BLOB NOT NULL)")) {
    database.execute(small_cache);
    check_structure(database, file);
  }

  std::mutex mutex;
  Database database;
  Statement insert{database,
                   "INSERT INTO snapshots VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET engine = ?2,"
                   "base = max(base, ?3), bytes = ?4"};
  Statement drop{database, "DELETE FROM snapshots WHERE number = ?1"};
};

struct SqliteSnapshots::Reader {
  explicit Reader(const Path& file) : database(log_file_for_reading(file)) { database.execute(small_cache); }

  std::mutex mutex;
  Database database;
  Statement list{database, "SELECT number, engine, base FROM snapshots ORDER BY number"};
  Statement one{database, "SELECT number, engine, base, bytes FROM snapshots WHERE number = ?1"};
};

SqliteSnapshots::SqliteSnapshots(const Path& file, Access access, bool expected) {
  const bool missing = !std::filesystem::exists(file) || std::filesystem::file_size(file) == 0;
  if (missing && expected) damage_ = fmt::format("'{}' is missing", file.string());
  if (missing && access == Access::read) return;
  try {
    open(file, access);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::input) throw;  // the disk fails
    damage_ = e.what();
    reader_.reset();
    if (access == Access::read) return;
    writer_.reset();
    move_away(file);
    open(file, access);
  }
  if (list().empty() && std::filesystem::exists(damaged(file))) {
    damage_ = fmt::format("'{}' was damaged and is '{}' now", file.string(), damaged(file).string());
  }
}

SqliteSnapshots::~SqliteSnapshots() = default;

void SqliteSnapshots::open(const Path& file, Access access) {
  if (access == Access::write) writer_ = std::make_unique<Writer>(file);
  reader_ = std::make_unique<Reader>(file);
  list();  // throws where the table cannot be read
}

void SqliteSnapshots::keep(const Snapshot& snapshot) {
  Writer& to = *writer_;
  const std::scoped_lock lock(to.mutex);
  to.database.transaction([&] {
    to.insert
        .bind(integer(snapshot.number), std::string_view(snapshot.engine), std::int64_t{snapshot.base ? 1 : 0},
              std::string_view(snapshot.bytes))
        .run();
  });
  to.database.checkpoint(most_wal_pages);
}

void SqliteSnapshots::drop(EventNumber number) {
  Writer& to = *writer_;
  const std::scoped_lock lock(to.mutex);
  to.database.transaction([&] { to.drop.bind(integer(number)).run(); });
  to.database.checkpoint(most_wal_pages);
}

std::vector<Snapshot> SqliteSnapshots::list() const {
  std::vector<Snapshot> all;
  if (!reader_) return all;
  const std::scoped_lock lock(reader_->mutex);
  Statement& rows = reader_->list;
  for (rows.bind(); rows.step();) {
    all.push_back({.number = natural(rows.number(0)), .engine = rows.text(1), .base = rows.number(2) != 0});
  }
  return all;
}

std::optional<Snapshot> SqliteSnapshots::find(EventNumber number) const {
  std::optional<Snapshot> found;
  if (!reader_) return found;
  const std::scoped_lock lock(reader_->mutex);
  Statement& row = reader_->one;
  for (row.bind(integer(number)); row.step();) {
    found = {.number = number, .engine = row.text(1), .base = row.number(2) != 0, .bytes = row.text(3)};
  }
  return found;
}

}  // namespace pits
