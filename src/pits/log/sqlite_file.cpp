#include "pits/log/sqlite_file.h"

#include "pits/core/error.h"

namespace pits {
namespace {

using Path = std::filesystem::path;

constexpr std::int64_t application = 0x70697473;  // "pits" in the file's header
constexpr std::int64_t layout = 1;                // of the tables

void check_layout(Database& database, const Path& file) {
  if (database.number("PRAGMA application_id") != application) {
    throw bad_input("'{}' is an SQLite file, but no log of pits", file.string());
  }
  if (const std::int64_t found = database.number("PRAGMA user_version"); found != layout) {
    throw bad_input("'{}' has layout {}; this pits reads layout {}", file.string(), found, layout);
  }
}

}  // namespace

Database log_file_for_writing(const Path& file, const char* tables) {
  Database database(file, Access::write);
  if (const std::string mode = database.text("PRAGMA journal_mode=WAL"); mode != "wal") {
    throw bad_input("'{}' cannot have a write-ahead log (SQLite stays with journal_mode={}): a log needs a local disk",
                    file.string(), mode);
  }
  database.execute("PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=ON");
  database.watch_wal();
  if (database.number("PRAGMA application_id") == 0 && database.number("SELECT count(*) FROM sqlite_schema") == 0) {
    database.transaction([&] {
      database.execute(tables);
      database.execute(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", application, layout).c_str());
    });
  }
  check_layout(database, file);
  return database;
}

Database log_file_for_reading(const Path& file) {
  Database database(file, Access::read);
  check_layout(database, file);
  return database;
}

}  // namespace pits
