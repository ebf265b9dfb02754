#include "pits/fleet/postgres_store.h"

#include <algorithm>

namespace pits {
namespace {

constexpr std::size_t most_recent = 512, most_recent_bytes = std::size_t{16} << 20U;
constexpr std::int64_t read_ahead = 256;    // groups
constexpr std::size_t slowest_link = 1000;  // bytes per millisecond
// $4 its first event, $5 its bytes, $6 keys that are forgotten with it.
constexpr auto rewritten_group =
    "rewritten AS (UPDATE pits.event_{} e SET bytes = $5 FROM fence WHERE e.bandit = fence.id AND e.first = $4),"
    " forgotten AS (DELETE FROM pits.key k USING fence WHERE k.bandit = fence.id AND k.key = ANY($6))"
    " SELECT id FROM fence";

// The fence is the UPDATE of the bandit's row; the others take part only where it found the row. A statement opens
// every table that it names: only what the commit has is in it. A call has to be in the inbox, without an answer: one
// that the database has forgotten comes again. $1 bandit, $2 epoch, $3 last event before, $4 after.
std::string statement(const Commit& commit) {
  std::string sql = commit.recovery ? "WITH fence AS (UPDATE pits.bandit SET recovery = $10, last = coalesce($4, last)"
                                    : "WITH fence AS (UPDATE pits.bandit SET last = coalesce($4, last)";
  sql += " WHERE id = $1 AND epoch = $2 AND last = coalesce($3, last)";
  if (!commit.taken.empty()) {
    sql +=
        " AND NOT EXISTS (SELECT 1 FROM unnest($11::bigint[], $12::bigint[]) AS u(sender, n) WHERE NOT EXISTS"
        "   (SELECT 1 FROM pits.inbox i WHERE i.sender = u.sender AND i.n = u.n AND i.answers IS NULL))";
  }
  sql += " RETURNING id)";
  if (!commit.group.empty()) {
    sql +=
        ", events AS (INSERT INTO pits.event(bandit, first, part, bytes) SELECT id, $3 + 1,"
        "   CASE WHEN $3 = 0 THEN 0 ELSE (SELECT max(part) FROM pits.part) END, $5 FROM fence)";
  }
  if (!commit.pages.empty()) {
    sql +=
        ", pages AS (INSERT INTO pits.page SELECT id, u.page, u.bytes FROM fence, unnest($6::bigint[], $7::bytea[])"
        "   AS u(page, bytes) ON CONFLICT (bandit, page) DO UPDATE SET bytes = excluded.bytes)";
  }
  if (!commit.keys.empty()) {
    sql +=
        ", keys AS (INSERT INTO pits.key SELECT id, u.key, u.decision FROM fence, unnest($8::bytea[], $9::bigint[])"
        "   AS u(key, decision))";
  }
  const auto& taken = commit.taken;
  if (std::ranges::any_of(taken, [](const TakenCalls& one) { return !one.answers.empty(); })) {
    sql +=
        ", answered AS (UPDATE pits.inbox i SET answers = u.answers, calls = '' FROM fence,"
        "   unnest($11::bigint[], $12::bigint[], $13::bytea[]) AS u(sender, n, answers)"
        "   WHERE i.sender = u.sender AND i.n = u.n AND u.answers <> '')";
  }
  if (std::ranges::any_of(taken, [](const TakenCalls& one) { return one.answers.empty(); })) {
    sql +=
        ", done AS (DELETE FROM pits.inbox i USING fence, unnest($11::bigint[], $12::bigint[], $13::bytea[])"
        "   AS u(sender, n, answers) WHERE i.sender = u.sender AND i.n = u.n AND u.answers = '')";
  }
  return sql + " SELECT id FROM fence";
}

std::int64_t integer(std::uint64_t value) { return static_cast<std::int64_t>(value); }
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

// After a connection was lost in a commit: did it happen? The new epoch stops what may still be under way, since both
// need the bandit's row; what is there after that is final. Where another server has the lease now, nobody here knows.
bool PostgresStore::happened(EventNumber last_before, EventNumber last_after) {
  const auto database = pool_->take();
  const Rows now =
      database->run("UPDATE pits.bandit SET epoch = epoch + 1 WHERE id = $1 AND epoch = $2 RETURNING epoch, last",
                    bandit_, epoch_.load());
  const bool mine = now.size() == 1 && (now.natural(0, 1) == last_before || now.natural(0, 1) == last_after);
  if (!mine) throw ConnectionError("whether the log has it is not known: another server has the lease now");
  epoch_ = now.number(0, 0);
  return now.natural(0, 1) == last_after;
}

void PostgresStore::commit(const Commit& commit) {
  check_held();
  const bool has_group = !commit.group.empty();
  const EventNumber before = commit.first - 1;
  const EventNumber after = has_group ? before + event_count(commit.group) : 0;
  const auto write = [&]() -> bool {
    const auto database = pool_->take();
    Numbers pages, decisions, senders, numbers;
    Blobs page_bytes, keys, answers;
    for (const auto& [page, bytes] : commit.pages) pages.push_back(integer(page)), page_bytes.push_back(bytes);
    for (const auto& [key, id] : commit.keys) keys.push_back(key), decisions.push_back(integer(id));
    for (const TakenCalls& taken : commit.taken) {
      senders.push_back(taken.sender), numbers.push_back(taken.number), answers.push_back(taken.answers);
    }
    const auto given = [](bool there, EventNumber n) { return there ? std::optional(integer(n)) : std::nullopt; };
    return database
               ->run(statement(commit), bandit_, epoch_.load(), given(commit.first > 0, before),
                     given(has_group, after), commit.group, pages, page_bytes, keys, decisions,
                     commit.recovery.value_or(std::string()), senders, numbers, answers)
               .size() == 1;
  };
  try {
    try {
      if (!write()) lose();
    } catch (const ConnectionError&) {
      if (!has_group || !(happened(before, after) || write())) lose();
    }
  } catch (const ConnectionError&) {
    lost_ = true;
    throw;
  }
  if (has_group) remember(commit.first, commit.group);
}

template <class... Values>
Rows PostgresStore::read(std::string_view sql, const Values&... values) const {
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  try {
    return pool_->take()->run(sql, bandit_, values...);
  } catch (const ConnectionError&) {  // of before a restart of the database, perhaps
    if (std::chrono::steady_clock::now() > soon) throw;
    return pool_->take()->run(sql, bandit_, values...);
  }
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
    const Rows rows = read(fmt::format("SELECT first, bytes FROM pits.event_{0} WHERE bandit = $1 AND first >= (SELECT"
                                       " max(first) FROM pits.event_{0} WHERE bandit = $1 AND first <= $2)"
                                       " ORDER BY first LIMIT $3",
                                       *part),
                           number, most);
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
  std::size_t bytes = 0;
  for (const auto& value : parameters.values()) bytes += value->size();
  const auto database = pool_->take();
  const Postgres::Patience enough(*database, Postgres::patience + std::chrono::milliseconds(bytes / slowest_link));
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

// Rows stay until their partition goes (tables.h); nobody reads them any more.
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
