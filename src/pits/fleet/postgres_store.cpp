#include "pits/fleet/postgres_store.h"

#include <algorithm>

namespace pits {
namespace {

constexpr std::size_t most_recent = 512, most_recent_bytes = std::size_t{16} << 20U;
constexpr std::int64_t read_ahead = 256;            // groups
constexpr std::int64_t read_ahead_bytes = 4 << 20;  // and one group more
// $2 an event of the first group, $3 groups, $4 bytes.
constexpr auto groups_from =
    "SELECT first, bytes FROM (SELECT first, bytes, sum(length(bytes)) OVER (ORDER BY first) - length(bytes) AS before"
    "   FROM (SELECT first, bytes FROM pits.event_{0} WHERE bandit = $1 AND first >= (SELECT"
    "     max(first) FROM pits.event_{0} WHERE bandit = $1 AND first <= $2) ORDER BY first LIMIT $3) g) g"
    " WHERE before < $4 ORDER BY first";
// $4 its first event, $5 its bytes, $6 keys that are forgotten with it.
constexpr auto rewritten_group =
    "rewritten AS (UPDATE pits.event_{} e SET bytes = $5 FROM fence WHERE e.bandit = fence.id AND e.first = $4),"
    " forgotten AS (DELETE FROM pits.key k USING fence WHERE k.bandit = fence.id AND k.key = ANY($6))"
    " SELECT id FROM fence";

}  // namespace

PostgresStore::PostgresStore(std::shared_ptr<PostgresPool> pool, BanditId bandit, Epoch epoch)
    : pool_(std::move(pool)), bandit_(bandit), epoch_(epoch) {}

void PostgresStore::check_held() const {
  if (epoch_ == 0) throw failed("the log was opened for reading only");
  if (lost_) throw failed("another server holds the lease of this bandit, or the database was away");
}

void PostgresStore::lose() {
  lost_ = true;
  throw failed("the lease of this bandit is another server's now");
}

template <class... Values>
Rows PostgresStore::read_within(std::chrono::milliseconds most, std::string_view sql, const Values&... values) const {
  const auto ask = [&] {
    const auto database = pool_->take();
    const Postgres::Patience enough(*database, most);
    return database->run(sql, bandit_, values...);
  };
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  try {
    return ask();
  } catch (const ConnectionError&) {  // of before a restart of the database, perhaps
    if (std::chrono::steady_clock::now() > soon) throw;
    return ask();
  }
}

template <class... Values>
Rows PostgresStore::read(std::string_view sql, const Values&... values) const {
  return read_within(Postgres::patience, sql, values...);
}

void PostgresStore::remember(EventNumber first, std::string bytes) const {
  const std::scoped_lock lock(mutex_);
  recent_bytes_ += bytes.size();
  const EventNumber last = first + event_count(bytes) - 1;
  recent_.push_back({first, last, std::move(bytes)});
  while (recent_.size() > most_recent || (recent_.size() > 1 && recent_bytes_ > most_recent_bytes)) {
    recent_bytes_ -= recent_.front().bytes.size();
    recent_.pop_front();
  }
}

std::optional<GroupReader> PostgresStore::group(EventNumber number) const {
  std::int64_t most = 1;
  {
    const std::scoped_lock lock(mutex_);
    for (auto cached = recent_.rbegin(); cached != recent_.rend(); ++cached) {
      if (number < cached->first || number > cached->last) continue;
      next_ = cached->last + 1;
      return GroupReader(cached->bytes, cached->first);
    }
    if (number == next_) most = read_ahead;
  }
  for (auto part = part_of(number); part; part = part_of(number, *part)) {
    const Rows rows = read_within(Postgres::patience_for(2 * read_ahead_bytes), fmt::format(groups_from, *part), number,
                                  most, read_ahead_bytes);
    if (rows.size() == 0) continue;
    for (int row = 0; row < rows.size(); ++row) remember(rows.natural(row, 0), rows.text(row, 1));
    GroupReader found(rows.text(0, 1), rows.natural(0, 0));
    const std::scoped_lock lock(mutex_);
    next_ = found.last() + 1;
    return found;
  }
  return std::nullopt;
}

// Partitions are asked one by one: what is asked of all of them costs their number. A boundary is an event that was the
// last one when a partition was opened. Events up to it are in earlier ones, and those after it seldom are.
std::optional<std::int64_t> PostgresStore::part_of(EventNumber number, std::int64_t below) const {
  const Rows rows = read(
      "SELECT (SELECT max(part) FROM pits.part p WHERE p.part < $3 AND p.part <= CASE WHEN b.last = 0 THEN -1"
      " WHEN $2 <= 1 OR $2 < b.oldest THEN 0 ELSE coalesce((SELECT max(part) FROM pits.boundary WHERE bandit = b.id "
      "AND last < least($2, b.last)),"
      " (SELECT min(part) - 1 FROM pits.boundary WHERE bandit = b.id), $3) END)"
      " FROM pits.bandit b WHERE b.id = $1",
      number, below);
  return rows.size() == 0 || rows.null(0, 0) ? std::nullopt : std::optional(rows.number(0, 0));
}

std::string PostgresStore::page(std::uint64_t page) const {
  const Rows rows = read("SELECT bytes FROM pits.page WHERE bandit = $1 AND page = $2", page);
  return rows.size() == 0 ? std::string() : rows.text(0, 0);
}

std::string PostgresStore::recovery() const {
  const Rows rows = read("SELECT recovery FROM pits.bandit WHERE id = $1 AND recovery IS NOT NULL");
  return rows.size() == 0 ? std::string() : rows.text(0, 0);
}

std::optional<DecisionId> PostgresStore::decision_of(std::string_view key) const {
  const Rows rows = read("SELECT decision FROM pits.key WHERE bandit = $1 AND key = $2", key);
  return rows.size() == 0 ? std::nullopt : std::optional(rows.natural(0, 0));
}

// One statement, so that no lock is held while it is on its way here. $1 bandit, $2 epoch, $3 at_least.
template <class... Values>
void PostgresStore::fenced(const char* column, EventNumber at_least, std::string_view change, const Values&... values) {
  check_held();
  const Parameters parameters(bandit_, epoch_.load(), at_least, values...);
  const auto database = pool_->take();
  const Postgres::Patience enough(*database, Postgres::patience_for(parameters.bytes()));
  const std::string sql = fmt::format(
      "WITH fence AS (UPDATE pits.bandit SET {0} = greatest({0}, $3) WHERE id = $1 AND epoch = $2 RETURNING id), {1}",
      column, change);
  if (database->run(sql, parameters).size() == 0) lose();
}

void PostgresStore::keep(const Snapshot& snapshot) {
  fenced("last", 0,
         "kept AS (INSERT INTO pits.snapshot AS s(bandit, number, engine, base, bytes)"
         "   SELECT id, $4, $5, $6, $7 FROM fence ON CONFLICT (bandit, number) DO UPDATE"
         "   SET engine = excluded.engine, base = s.base OR excluded.base, bytes = excluded.bytes)"
         " SELECT id FROM fence",
         snapshot.number, snapshot.engine, snapshot.base, snapshot.bytes);
}

void PostgresStore::publish(const PolicyVersion& version) {
  fenced("model", version.number,
         "kept AS (INSERT INTO pits.policy SELECT id, $3, $4, $5, $6 FROM fence ON CONFLICT (bandit) DO UPDATE SET"
         "   number = excluded.number, engine = excluded.engine, books = excluded.books, bytes = excluded.bytes)"
         " SELECT pg_notify('pits', '') FROM fence",
         version.engine, version.books, version.policy);
}

std::optional<PolicyVersion> PostgresStore::version() const {
  const Rows rows = read(
      "SELECT number, engine, books, bytes FROM pits.policy WHERE bandit = $1 UNION ALL"
      " (SELECT number, engine, books, ''::bytea FROM pits.snapshot WHERE bandit = $1 AND"
      "   NOT EXISTS (SELECT 1 FROM pits.policy WHERE bandit = $1) ORDER BY number DESC LIMIT 1)");
  if (rows.size() == 0) return std::nullopt;
  return PolicyVersion{
      .number = rows.natural(0, 0), .engine = rows.text(0, 1), .policy = rows.text(0, 3), .books = rows.text(0, 2)};
}

void PostgresStore::drop_snapshot(EventNumber number) {
  constexpr const char* change =
      "dropped AS (DELETE FROM pits.snapshot s USING fence WHERE s.bandit = fence.id AND s.number = $4)"
      " SELECT id FROM fence";
  fenced("last", 0, change, number);
}

void PostgresStore::rewrite(EventNumber first, std::string_view group, const std::vector<std::string>& forgotten) {
  auto part = part_of(first);
  while (part &&
         read(fmt::format("SELECT 1 FROM pits.event_{} WHERE bandit = $1 AND first = $2", *part), first).size() == 0) {
    part = part_of(first, *part);
  }
  fenced("last", 0, fmt::format(rewritten_group, part.value_or(0)), first, group,
         Blobs(forgotten.begin(), forgotten.end()));
  forget_recent();
}

void PostgresStore::forget_recent() {
  const std::scoped_lock lock(mutex_);
  recent_.clear();
  recent_bytes_ = 0;
}

// Rows stay until somebody looks after their partition (tables.h); nobody reads them any more.
void PostgresStore::drop_events(EventNumber oldest, std::string_view summary,
                                const std::vector<std::string>& forgotten) {
  fenced("oldest", oldest, fmt::format(rewritten_group, 0), EventNumber{1}, summary,
         Blobs(forgotten.begin(), forgotten.end()));
  forget_recent();
}

EventNumber PostgresStore::oldest() const {
  const Rows rows = read("SELECT oldest FROM pits.bandit WHERE id = $1");
  return rows.size() == 0 ? 0 : rows.natural(0, 0);
}

std::vector<Snapshot> PostgresStore::snapshots() const {
  const Rows rows = read("SELECT number, engine, base FROM pits.snapshot WHERE bandit = $1 ORDER BY number");
  std::vector<Snapshot> all;
  for (int row = 0; row < rows.size(); ++row) {
    all.push_back({.number = rows.natural(row, 0), .engine = rows.text(row, 1), .base = rows.truth(row, 2)});
  }
  return all;
}

Snapshot PostgresStore::snapshot(EventNumber number) const {
  const Rows rows = read("SELECT engine, base, bytes FROM pits.snapshot WHERE bandit = $1 AND number = $2", number);
  if (rows.size() == 0) throw failed("the database has no snapshot of event {}", number);
  return {.number = number, .engine = rows.text(0, 0), .base = rows.truth(0, 1), .bytes = rows.text(0, 2)};
}

std::optional<BanditId> find_bandit(Postgres& database, std::string_view name) {
  const Rows rows = database.run("SELECT id FROM pits.bandit WHERE name = convert_from($1, 'UTF8') AND last > 0", name);
  return rows.size() == 0 ? std::nullopt : std::optional(rows.number(0, 0));
}

}  // namespace pits
