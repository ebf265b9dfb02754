// How groups of events are written to a log in PostgreSQL, and what is known where the connection is lost meanwhile.
#include <algorithm>

#include "pits/fleet/postgres_store.h"

namespace pits {
namespace {

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

// After a connection was lost in a commit: did it happen? The new epoch stops what may still be under way, since both
// need the bandit's row; what is there after that is final. Where another server has the lease now, or the question is
// refused, nobody here knows.
bool PostgresStore::happened(EventNumber last_before, EventNumber last_after) {
  const auto unknown = [](std::string_view why) {
    return ConnectionError(fmt::format("whether the log has it is not known: {}", why));
  };
  std::optional<Rows> now;
  try {
    now = pool_->take()->run(
        "UPDATE pits.bandit SET epoch = epoch + 1 WHERE id = $1 AND epoch = $2 RETURNING epoch, last", bandit_,
        epoch_.load());
  } catch (const std::exception& e) {  // also where the database answers and refuses: a standby, a full disk, a lock
    throw unknown(e.what());
  }
  const bool mine = now->size() == 1 && (now->natural(0, 1) == last_before || now->natural(0, 1) == last_after);
  if (!mine) throw unknown("another server has the lease now");
  epoch_ = now->number(0, 0);
  return now->natural(0, 1) == last_after;
}

void PostgresStore::commit(const Commit& commit) {
  check_held();
  const bool has_group = !commit.group.empty();
  const EventNumber before = commit.first - 1;
  const EventNumber after = has_group ? before + event_count(commit.group) : 0;
  const auto write = [&]() -> bool {
    Numbers pages, decisions, senders, numbers;
    Blobs page_bytes, keys, answers;
    for (const auto& [page, bytes] : commit.pages) pages.push_back(integer(page)), page_bytes.push_back(bytes);
    for (const auto& [key, id] : commit.keys) keys.push_back(key), decisions.push_back(integer(id));
    for (const TakenCalls& taken : commit.taken) {
      senders.push_back(taken.sender), numbers.push_back(taken.number), answers.push_back(taken.answers);
    }
    const auto given = [](bool there, EventNumber n) { return there ? std::optional(integer(n)) : std::nullopt; };
    const Parameters parameters(bandit_, epoch_.load(), given(commit.first > 0, before), given(has_group, after),
                                commit.group, pages, page_bytes, keys, decisions,
                                commit.recovery.value_or(std::string()), senders, numbers, answers);
    const auto database = pool_->take();
    const Postgres::Patience enough(*database, Postgres::patience_for(parameters.bytes()));
    return database->run(statement(commit), parameters).size() == 1;
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

}  // namespace pits
