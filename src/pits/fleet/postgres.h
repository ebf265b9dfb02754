// Connections to PostgreSQL by libpq: statements that are prepared once, binary parameters and results, and a deadline
// for every call, so that a network that is cut or a server that hangs is an Error and not a wait.
//
//   pits::Postgres database("postgresql://pits@db/pits");
//   const pits::Rows rows = database.run("SELECT id FROM pits.bandit WHERE name = $1", "shop");
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pits/core/error.h"

struct pg_conn;  // libpq's own, kept out of this header
struct pg_result;

namespace pits {

// The database cannot be reached, or has ended the session: what was asked may have happened or not.
class ConnectionError : public Error {
 public:
  explicit ConnectionError(const std::string& message) : Error(ErrorKind::failed, message) {}
};

// Of one host of a URL: words of libpq and their values; none where the URL has only one.
using PostgresHost = std::map<std::string, std::string>;

using Numbers = std::vector<std::int64_t>;
using Blobs = std::vector<std::string_view>;

class Parameters {
 public:
  template <class... Values>
  explicit Parameters(const Values&... values) {
    (add(values), ...);
  }
  const std::vector<unsigned>& types() const { return types_; }
  const std::vector<std::optional<std::string>>& values() const { return values_; }  // none: NULL
  std::size_t bytes() const;

 private:
  void add(std::int64_t value);
  void add(std::uint64_t value) { add(static_cast<std::int64_t>(value)); }
  void add(bool value);
  void add(double value);
  void add(std::string_view value);  // bytea; SQL casts it to text by convert_from
  void add(const char* value);       // text
  void add(const std::string& value) { add(std::string_view(value)); }
  void add(const Numbers& values);
  void add(const Blobs& values);
  template <class T>
  void add(const std::optional<T>& value) {
    add(value.value_or(T{}));
    if (!value) values_.back().reset();
  }
  void add(unsigned type, std::optional<std::string> value);

  std::vector<unsigned> types_;
  std::vector<std::optional<std::string>> values_;
};

class Rows {
 public:
  explicit Rows(pg_result* result);

  int size() const;
  std::uint64_t changed() const;  // rows, by an INSERT, UPDATE or DELETE
  bool null(int row, int column) const;
  std::int64_t number(int row, int column) const;
  std::uint64_t natural(int row, int column) const { return static_cast<std::uint64_t>(number(row, column)); }
  bool truth(int row, int column) const;
  std::string text(int row, int column) const;  // also of bytea

 private:
  std::unique_ptr<pg_result, void (*)(pg_result*)> result_;
};

// For one thread at a time.
class Postgres {
 public:
  static constexpr std::chrono::milliseconds patience{5000};
  // With so many bytes, on a slow link.
  static std::chrono::milliseconds patience_for(std::size_t bytes);

  // Where the URL has many hosts, each gets its share of the time, and at least 2 s.
  explicit Postgres(const std::string& url);

  template <class... Values>
  Rows run(std::string_view sql, const Values&... values) {
    return run(sql, Parameters(values...));
  }
  Rows run(std::string_view sql, const Parameters& parameters);
  // Statements without parameters or results.
  void execute(const std::string& sql);
  // change() as one transaction: where it throws, nothing of it has happened, unless it is a ConnectionError.
  template <class Change>
  auto transaction(Change&& change) {
    execute("BEGIN");
    try {
      auto result = change();
      execute("COMMIT");
      return result;
    } catch (...) {
      roll_back();
      throw;
    }
  }
  // Waits for notifications, at most so long: what they say.
  std::vector<std::string> wait(std::chrono::milliseconds most);
  bool broken() const { return broken_; }

  // While one lives, calls may take so long.
  class Patience {
   public:
    Patience(Postgres& database, std::chrono::milliseconds most) : database_(database) { database.most_ = most; }
    ~Patience() { database_.most_ = patience; }
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;

   private:
    Postgres& database_;
  };

 private:
  void connect(const std::string& url, const PostgresHost& host, std::chrono::steady_clock::time_point deadline);
  Rows finished(std::string_view what);
  void await(short events, std::chrono::steady_clock::time_point deadline, std::string_view what);
  void roll_back() noexcept;
  [[noreturn]] void lose(std::string_view what, std::string_view why);
  std::string name_of(std::string_view sql, const Parameters& parameters);

  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
  std::map<std::string, std::string, std::less<>> prepared_;
  bool broken_ = false;
  std::chrono::milliseconds most_ = patience;  // that a call may take
};

// A bounded number of connections, for many threads.
class PostgresPool {
 public:
  explicit PostgresPool(std::string url, std::size_t most = 6) : url_(std::move(url)), most_(most) {}

  class Loan {
   public:
    Loan(PostgresPool& pool, std::unique_ptr<Postgres> connection) : pool_(&pool), connection_(std::move(connection)) {}
    ~Loan() {
      if (pool_ != nullptr) pool_->give_back(std::move(connection_));
    }
    Loan(Loan&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), connection_(std::move(other.connection_)) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Loan& operator=(Loan&&) = delete;
    Postgres* operator->() const { return connection_.get(); }
    Postgres& operator*() const { return *connection_; }

   private:
    PostgresPool* pool_;
    std::unique_ptr<Postgres> connection_;
  };
  Loan take();  // waits while all are in use
  const std::string& url() const { return url_; }

 private:
  void give_back(std::unique_ptr<Postgres> connection);

  std::string url_;
  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable free_;
  std::vector<std::unique_ptr<Postgres>> idle_;
  std::size_t used_ = 0;
};

std::vector<PostgresHost> hosts_of(const std::string& url);
bool is_postgres_url(std::string_view text);
// Without its password, for messages.
std::string without_password(std::string_view url);

}  // namespace pits
