// A connection to an SQLite file and its statements. Errors name the file and the system's reason.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;  // SQLite's own, kept out of this header
struct sqlite3_stmt;

namespace pits {

class Database;

// Prepared once, used many times:
//   for (statement.bind(number); statement.step();) use(statement.text(0));
class Statement {
 public:
  Statement(const Database& database, const char* sql);

  // Starts again, with these values for the parameters ?1, ?2, ...
  template <class... Values>
  Statement& bind(const Values&... values) {
    reset();
    int place = 0;
    (set(++place, values), ...);
    return *this;
  }
  bool step();  // false: no row is left
  void run() {
    while (step()) {
    }
  }
  std::int64_t number(int column) const;
  std::string text(int column) const;  // also of blobs

 private:
  void reset();
  void set(int place, std::int64_t value);
  void set(int place, std::string_view value);

  const Database& database_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
};

enum class Access { read, write };

class Database {
 public:
  Database(const std::filesystem::path& file, Access access);

  void execute(const char* sql);
  std::int64_t number(const char* sql);  // the first number of its first row
  std::string text(const char* sql);     // the same of a text
  // The caller decides when pages of the write-ahead log are moved into the file.
  void watch_wal();
  // Moves them where there are at least so many. Failures are left to the next time, as SQLite's own checkpoints do.
  void checkpoint(int least_pages);
  // Moves all of them and empties the write-ahead log, so that nothing of what was replaced is left in a file. False:
  // somebody is reading.
  bool truncate_wal();
  // change() as one transaction: where it throws, nothing of it has happened.
  template <class Change>
  void transaction(Change&& change) {
    execute("BEGIN IMMEDIATE");
    try {
      change();
      execute("COMMIT");
    } catch (...) {
      roll_back();
      throw;
    }
  }

 private:
  friend class Statement;
  struct Wal {
    int pages = 0;  // after the last commit
    int moved = 0;  // those of the last checkpoint, whose place is not written over yet
  };
  void check(int code) const;  // throws unless it says that all is well
  void roll_back() noexcept;

  std::filesystem::path file_;
  Access access_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> connection_;
  std::unique_ptr<Wal> wal_{};  // set by SQLite
};

}  // namespace pits
