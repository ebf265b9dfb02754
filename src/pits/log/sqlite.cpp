#include "pits/log/sqlite.h"

#include <sqlite3.h>

#include <cstring>

#include "pits/core/damaged.h"
#include "pits/core/error.h"

namespace pits {
namespace {

constexpr int busy_timeout_ms = 5000;

}  // namespace

Database::Database(const std::filesystem::path& file, Access access)
    : file_(file), access_(access), connection_(nullptr, sqlite3_close_v2) {
  const int mode = access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  connection_.reset(opened);
  check(code);
  check(sqlite3_busy_timeout(opened, busy_timeout_ms));
}

// SQLite's own words, and the system's where a system call failed.
void Database::check(int code) const {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  const int kind = code & 0xff;
  const int system = connection_ ? sqlite3_system_errno(connection_.get()) : 0;
  const bool of_system = kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN || kind == SQLITE_FULL;
  const std::string reason = of_system && system != 0
                                 ? fmt::format("{} ({})", std::strerror(system), sqlite3_errstr(code))
                                 : sqlite3_errstr(code);
  const std::string message =
      fmt::format("cannot {} '{}': {}", access_ == Access::write ? "write" : "read", file_.string(), reason);
  if (kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT) throw Damaged(message);
  throw Error(ErrorKind::failed, message);
}

void Database::execute(const char* sql) { check(sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr)); }

std::int64_t Database::number(const char* sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.number(0) : 0;
}

std::string Database::text(const char* sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.text(0) : std::string();
}

// It starts at 0 again where everything was moved and nobody reads it.
void Database::watch_wal() {
  wal_ = std::make_unique<Wal>();
  sqlite3_wal_hook(
      connection_.get(),
      [](void* to, sqlite3*, const char*, int pages) {
        Wal& wal = *static_cast<Wal*>(to);
        if (pages < wal.pages) wal.moved = 0;
        wal.pages = pages;
        return SQLITE_OK;
      },
      wal_.get());
}

void Database::checkpoint(int least_pages) {
  if (wal_->pages - wal_->moved < least_pages) return;
  sqlite3_wal_checkpoint_v2(connection_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  wal_->moved = wal_->pages;
}

bool Database::truncate_wal() {
  sqlite3_busy_timeout(connection_.get(), 0);
  const int code = sqlite3_wal_checkpoint_v2(connection_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(connection_.get(), busy_timeout_ms);
  if (code == SQLITE_OK) wal_->pages = wal_->moved = 0;
  return code == SQLITE_OK;
}

// Many errors have rolled the transaction back already.
void Database::roll_back() noexcept {
  if (sqlite3_get_autocommit(connection_.get()) == 0) {
    sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

Statement::Statement(const Database& database, const char* sql)
    : database_(database), statement_(nullptr, sqlite3_finalize) {
  sqlite3_stmt* prepared = nullptr;
  database.check(
      sqlite3_prepare_v3(database.connection_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr));
  statement_.reset(prepared);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(statement_.get());  // ends the read transaction; an error is in `code`
  database_.check(code);
  return false;
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

void Statement::set(int place, std::int64_t value) {
  database_.check(sqlite3_bind_int64(statement_.get(), place, value));
}

// The caller's bytes live until the statement has run.
void Statement::set(int place, std::string_view value) {
  database_.check(
      sqlite3_bind_blob64(statement_.get(), place, value.empty() ? "" : value.data(), value.size(), SQLITE_STATIC));
}

std::int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return size == 0 ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

}  // namespace pits
