#include "pits/fleet/postgres.h"

#include <endian.h>
#include <libpq-fe.h>
#include <poll.h>

#include <cstring>

namespace pits {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned bool_type = 16, bytea_type = 17, int8_type = 20, text_type = 25, float8_type = 701,
                   bytea_array_type = 1001, int8_array_type = 1016;

template <class T>
void append(std::string& bytes, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 8) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    bits = htobe64(bits);
    bytes.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  } else {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    bits = htobe32(bits);
    bytes.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
}

// dimensions, has nulls, element type, size, lower bound
std::string array_head(unsigned element_type, std::size_t size) {
  std::string bytes;
  append(bytes, std::int32_t{size == 0 ? 0 : 1});
  append(bytes, std::int32_t{0});
  append(bytes, element_type);
  if (size == 0) return bytes;
  append(bytes, static_cast<std::int32_t>(size));
  append(bytes, std::int32_t{1});
  return bytes;
}

std::string trimmed(const char* message) {
  std::string text = message == nullptr ? "" : message;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text;
}

}  // namespace

void Parameters::add(unsigned type, std::optional<std::string> value) {
  types_.push_back(type);
  values_.push_back(std::move(value));
}

std::size_t Parameters::bytes() const {
  std::size_t bytes = 0;
  for (const auto& value : values_) bytes += value ? value->size() : 0;
  return bytes;
}

void Parameters::add(std::int64_t value) {
  std::string bytes;
  append(bytes, value);
  add(int8_type, std::move(bytes));
}

void Parameters::add(bool value) { add(bool_type, std::string(1, value ? '\1' : '\0')); }

void Parameters::add(double value) {
  std::string bytes;
  append(bytes, value);
  add(float8_type, std::move(bytes));
}

void Parameters::add(std::string_view value) { add(bytea_type, std::string(value)); }
void Parameters::add(const char* value) { add(text_type, std::string(value)); }

void Parameters::add(const Numbers& values) {
  std::string bytes = array_head(int8_type, values.size());
  for (const std::int64_t value : values) {
    append(bytes, std::int32_t{8});
    append(bytes, value);
  }
  add(int8_array_type, std::move(bytes));
}

void Parameters::add(const Blobs& values) {
  std::string bytes = array_head(bytea_type, values.size());
  for (const std::string_view value : values) {
    append(bytes, static_cast<std::int32_t>(value.size()));
    bytes += value;
  }
  add(bytea_array_type, std::move(bytes));
}

std::chrono::milliseconds Postgres::patience_for(std::size_t bytes) {
  constexpr std::size_t slowest_link = 1000;  // bytes per millisecond
  return patience + std::chrono::milliseconds(bytes / slowest_link);
}

Rows::Rows(pg_result* result) : result_(result, PQclear) {}
int Rows::size() const { return PQntuples(result_.get()); }
std::uint64_t Rows::changed() const { return std::strtoull(PQcmdTuples(result_.get()), nullptr, 10); }
bool Rows::null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
bool Rows::truth(int row, int column) const { return *PQgetvalue(result_.get(), row, column) != 0; }

std::int64_t Rows::number(int row, int column) const {
  const char* bytes = PQgetvalue(result_.get(), row, column);
  if (PQgetlength(result_.get(), row, column) == 4) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    return static_cast<std::int32_t>(be32toh(bits));
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return static_cast<std::int64_t>(be64toh(bits));
}

std::string Rows::text(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

Postgres::Postgres(const std::string& url) : connection_(nullptr, PQfinish) {
  const std::vector<PostgresHost> hosts = hosts_of(url);
  constexpr std::chrono::milliseconds least{2000};
  const auto each = std::max(patience / static_cast<int>(hosts.size()), std::min(least, patience));
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    try {
      broken_ = false;
      connect(url, hosts[i], Clock::now() + each);
      break;
    } catch (const ConnectionError&) {
      if (i + 1 == hosts.size()) throw;
    }
  }
  PQsetnonblocking(connection_.get(), 1);
  // Plans do not depend on the values here, and planning would cost more than running. A client that is frozen in a
  // transaction must not keep its locks.
  execute(
      "SET plan_cache_mode = force_generic_plan; SET bytea_output = hex; SET statement_timeout = '30s';"
      " SET idle_in_transaction_session_timeout = '500ms'");
}

void Postgres::connect(const std::string& url, const PostgresHost& host, Clock::time_point deadline) {
  // Later words win: what the URL itself says about the first three is kept.
  std::vector<const char*> words{"application_name", "client_encoding", "dbname"};
  std::vector<const char*> values{"pits", "UTF8", url.c_str()};
  for (const auto& [word, value] : host) words.push_back(word.c_str()), values.push_back(value.c_str());
  words.push_back(nullptr), values.push_back(nullptr);
  connection_.reset(PQconnectStartParams(words.data(), values.data(), 1));
  if (!connection_) throw std::bad_alloc();
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  for (PostgresPollingStatusType state = PGRES_POLLING_WRITING; state != PGRES_POLLING_OK;) {
    if (PQstatus(connection_.get()) == CONNECTION_BAD || state == PGRES_POLLING_FAILED) {
      lose("connect to", PQerrorMessage(connection_.get()));
    }
    await(state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline, "connect to");
    state = PQconnectPoll(connection_.get());
  }
}

void Postgres::lose(std::string_view what, std::string_view why) {
  broken_ = true;
  throw ConnectionError(fmt::format("cannot {} the database: {}", what, trimmed(std::string(why).c_str())));
}

void Postgres::await(short events, Clock::time_point deadline, std::string_view what) {
  pollfd waiting{.fd = PQsocket(connection_.get()), .events = events, .revents = 0};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) lose(what, "it does not answer in time");
    const int ready = ::poll(&waiting, 1, static_cast<int>(left));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) lose(what, std::strerror(errno));
  }
}

// The last result of what was sent.
Rows Postgres::finished(std::string_view what) {
  const auto deadline = Clock::now() + most_;
  pg_conn* connection = connection_.get();
  for (int left = 1; left != 0;) {
    left = PQflush(connection);
    if (left < 0) lose(what, PQerrorMessage(connection));
    if (left > 0) {
      await(POLLIN | POLLOUT, deadline, what);
      if (PQconsumeInput(connection) == 0) lose(what, PQerrorMessage(connection));
    }
  }
  std::optional<Rows> last;
  std::string problem;
  for (;;) {
    while (PQisBusy(connection) != 0) {
      await(POLLIN, deadline, what);
      if (PQconsumeInput(connection) == 0) lose(what, PQerrorMessage(connection));
    }
    PGresult* result = PQgetResult(connection);
    if (result == nullptr) break;
    last.emplace(result);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) problem = trimmed(PQresultErrorMessage(result));
    if (status == PGRES_FATAL_ERROR && PQstatus(connection) == CONNECTION_BAD) lose(what, problem);
  }
  if (PQstatus(connection) == CONNECTION_BAD) lose(what, PQerrorMessage(connection));
  if (!problem.empty()) throw failed("cannot {} the database: {}", what, problem);
  return *std::move(last);
}

std::string Postgres::name_of(std::string_view sql, const Parameters& parameters) {
  if (const auto found = prepared_.find(sql); found != prepared_.end()) return found->second;
  const std::string name = fmt::format("s{}", prepared_.size()), text(sql);
  if (PQsendPrepare(connection_.get(), name.c_str(), text.c_str(), static_cast<int>(parameters.types().size()),
                    parameters.types().data()) == 0) {
    lose("ask", PQerrorMessage(connection_.get()));
  }
  finished("ask");
  prepared_.emplace(text, name);
  return name;
}

Rows Postgres::run(std::string_view sql, const Parameters& parameters) {
  const std::string name = name_of(sql, parameters);
  const std::size_t n = parameters.values().size();
  std::vector<const char*> values(n);
  std::vector<int> sizes(n), binary(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& value = parameters.values()[i];
    values[i] = value ? value->data() : nullptr;
    sizes[i] = value ? static_cast<int>(value->size()) : 0;
  }
  if (PQsendQueryPrepared(connection_.get(), name.c_str(), static_cast<int>(n), values.data(), sizes.data(),
                          binary.data(), 1) == 0) {
    lose("ask", PQerrorMessage(connection_.get()));
  }
  return finished("ask");
}

void Postgres::execute(const std::string& sql) {
  if (PQsendQuery(connection_.get(), sql.c_str()) == 0) lose("ask", PQerrorMessage(connection_.get()));
  finished("ask");
}

void Postgres::roll_back() noexcept {
  try {
    if (!broken_ && PQtransactionStatus(connection_.get()) != PQTRANS_IDLE) execute("ROLLBACK");
  } catch (const std::exception&) {
    broken_ = true;
  }
}

std::vector<std::string> Postgres::wait(std::chrono::milliseconds most) {
  const auto heard = [&] {
    std::vector<std::string> words;
    while (PGnotify* note = PQnotifies(connection_.get())) {
      words.emplace_back(note->extra);
      PQfreemem(note);
    }
    return words;
  };
  if (auto words = heard(); !words.empty()) return words;
  pollfd waiting{.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, static_cast<int>(most.count())) <= 0) return {};
  if (PQconsumeInput(connection_.get()) == 0) lose("hear from", PQerrorMessage(connection_.get()));
  return heard();
}

}  // namespace pits
