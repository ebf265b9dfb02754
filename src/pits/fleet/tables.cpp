#include "pits/fleet/tables.h"

#include <array>

namespace pits {
namespace {

// Groups and snapshots are not compressed: that costs more than their bytes.
constexpr const char* first_tables = R"(
CREATE TABLE pits.server(            -- those that are alive; whoever finds one dead or frozen deletes it
  id bigserial PRIMARY KEY,
  name text NOT NULL,
  learns boolean NOT NULL,
  expires timestamptz NOT NULL) WITH (fillfactor = 50);
CREATE TABLE pits.bandit(
  id bigserial PRIMARY KEY,
  name text NOT NULL UNIQUE,
  epoch bigint NOT NULL DEFAULT 0,   -- of the lease: every write of its holder names it
  holder bigint,                     -- server; NULL: nobody needs to learn it now
  last bigint NOT NULL DEFAULT 0,    -- event
  model bigint NOT NULL DEFAULT 0,   -- newest snapshot
  next_id bigint NOT NULL DEFAULT 0, -- ids below were given to servers
  recovery bytea) WITH (fillfactor = 50);
CREATE INDEX bandit_holder ON pits.bandit(holder) WHERE holder IS NOT NULL;
CREATE TABLE pits.event(             -- a group of events per row
  bandit bigint NOT NULL, first bigint NOT NULL, bytes bytea NOT NULL, PRIMARY KEY(bandit, first));
CREATE TABLE pits.page(              -- of the index of decisions
  bandit bigint NOT NULL, page bigint NOT NULL, bytes bytea NOT NULL, PRIMARY KEY(bandit, page));
CREATE TABLE pits.key(               -- callers' names of decisions
  bandit bigint NOT NULL, key bytea NOT NULL, decision bigint NOT NULL, PRIMARY KEY(bandit, key));
CREATE TABLE pits.snapshot(
  bandit bigint NOT NULL, number bigint NOT NULL, engine bytea NOT NULL, base boolean NOT NULL,
  books bytea NOT NULL, bytes bytea NOT NULL, PRIMARY KEY(bandit, number));
CREATE TABLE pits.inbox(             -- calls of servers that do not hold the bandit's lease
  sender bigint NOT NULL, n bigint NOT NULL, bandit bigint NOT NULL, calls bytea NOT NULL, answers bytea,
  PRIMARY KEY(sender, n)) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE TABLE pits.secret(name text PRIMARY KEY, value bytea NOT NULL);
ALTER TABLE pits.event ALTER bytes SET STORAGE EXTERNAL;
ALTER TABLE pits.snapshot ALTER bytes SET STORAGE EXTERNAL;
)";

// What was written so far becomes partition 1 as it is. Each partition has its own primary key, (bandit, first): one of
// all partitions would have to name the partition.
constexpr const char* partitions_and_policies = R"(
CREATE TABLE pits.part(              -- of the events: all that is written goes to the newest
  part bigint PRIMARY KEY, opened timestamptz NOT NULL DEFAULT now());
INSERT INTO pits.part VALUES(0, '-infinity'), (1, now());
CREATE TABLE pits.boundary(          -- the last event of a bandit when a partition was opened
  part bigint NOT NULL, bandit bigint NOT NULL, last bigint NOT NULL, PRIMARY KEY(bandit, part));
ALTER TABLE pits.event RENAME TO event_1;
ALTER TABLE pits.event_1 RENAME CONSTRAINT event_pkey TO event_1_pkey;
ALTER TABLE pits.event_1 ADD part bigint NOT NULL DEFAULT 1;
CREATE TABLE pits.event_0(LIKE pits.event_1 INCLUDING ALL);
INSERT INTO pits.event_0(bandit, first, bytes, part) SELECT bandit, first, bytes, 0 FROM pits.event_1 WHERE first = 1;
DELETE FROM pits.event_1 WHERE first = 1;
CREATE TABLE pits.event(LIKE pits.event_1 INCLUDING STORAGE) PARTITION BY RANGE(part);
ALTER TABLE pits.event ATTACH PARTITION pits.event_0 FOR VALUES FROM (0) TO (1);
ALTER TABLE pits.event ATTACH PARTITION pits.event_1 FOR VALUES FROM (1) TO (2);
ALTER TABLE pits.bandit ADD oldest bigint NOT NULL DEFAULT 0;  -- events before, but for the first group, were dropped
ALTER TABLE pits.bandit ADD look_at timestamptz;  -- when retention is due though nobody calls; NULL: never
UPDATE pits.bandit SET look_at = now();
CREATE TABLE pits.policy(            -- the newest version, which servers that do not learn decide by
  bandit bigint PRIMARY KEY, number bigint NOT NULL, engine bytea NOT NULL, books bytea NOT NULL, bytes bytea NOT NULL);
ALTER TABLE pits.policy ALTER bytes SET STORAGE EXTERNAL;
ALTER TABLE pits.snapshot ALTER books SET DEFAULT '';
)";

// Calls are looked for among those without an answer, not among all of the last minute. Rows of up to a block are kept
// whole: that a call or a page of the index was cut in pieces or compressed cost more than writing it.
constexpr const char* open_calls = R"(
CREATE INDEX inbox_open ON pits.inbox(sender, n) WHERE answers IS NULL;
ALTER TABLE pits.inbox ALTER calls SET STORAGE EXTERNAL, ALTER answers SET STORAGE EXTERNAL,
  SET (toast_tuple_target = 8160);
ALTER TABLE pits.page ALTER bytes SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160);
)";

constexpr std::array steps{first_tables, partitions_and_policies, open_calls};
constexpr std::int64_t migration_lock = 0x706974735f6d6967;  // "pits_mig"
constexpr std::int64_t partition_lock = 0x706974735f707274;  // "pits_prt"

// An ATTACH lets readers and writers go on.
void open_partition(Postgres& database, std::int64_t part) {
  database.execute(
      fmt::format("CREATE TABLE pits.event_{0}(LIKE pits.event_0 INCLUDING ALL);"
                  " ALTER TABLE pits.event ATTACH PARTITION pits.event_{0} FOR VALUES FROM ({0}) TO ({0} + 1)",
                  part));
  database.run("INSERT INTO pits.part VALUES($1)", part);
  database.run("INSERT INTO pits.boundary SELECT $1, id, last FROM pits.bandit WHERE last > 0", part);
}

bool is_needed(Postgres& database, std::int64_t part) {
  return database
             .run(fmt::format("SELECT 1 FROM pits.bandit b WHERE EXISTS (SELECT 1 FROM pits.event_{} e"
                              " WHERE e.bandit = b.id AND e.first >= b.oldest) LIMIT 1",
                              part))
             .size() > 0;
}

void drop_partition(Postgres& database, std::int64_t part) {
  database.execute(fmt::format("DROP TABLE pits.event_{}", part));
  database.run("DELETE FROM pits.part WHERE part = $1", part);
  database.run("DELETE FROM pits.boundary WHERE part = $1", part);
}

// What bandits have dropped of a partition that others need, some MB at once. Each bandit's groups are found by the
// index. True where there may be more.
bool delete_dropped(Postgres& database, std::int64_t part) {
  constexpr std::int64_t most_groups = 500, most_bytes = 16 << 20;
  const std::string sql = fmt::format(
      "DELETE FROM pits.event_{0} e USING (SELECT d.*, sum(size) OVER (ORDER BY bandit, first) - size AS before FROM"
      "   (SELECT o.* FROM pits.bandit b JOIN LATERAL (SELECT bandit, first, length(bytes) AS size FROM pits.event_{0}"
      "     WHERE bandit = b.id AND first > 1 AND first < b.oldest ORDER BY first LIMIT $1) o ON true"
      "     WHERE b.oldest > 0 LIMIT $1) d) d WHERE e.bandit = d.bandit AND e.first = d.first AND before < $2",
      part);
  return database.run(sql, most_groups, most_bytes).changed() > 0;
}

}  // namespace

std::span<const char* const> table_steps() { return steps; }

void migrate(Postgres& database, std::span<const char* const> steps) {
  const Postgres::Patience long_patience(database, std::chrono::hours(6));  // rows may have to be looked at
  database.transaction([&] {
    database.execute("SET LOCAL statement_timeout = 0");
    database.run("SELECT pg_advisory_xact_lock($1)", migration_lock);
    database.execute("CREATE SCHEMA IF NOT EXISTS pits; CREATE TABLE IF NOT EXISTS pits.version(version bigint)");
    const Rows found = database.run("SELECT coalesce(max(version), 0) FROM pits.version");
    const auto version = static_cast<std::size_t>(found.number(0, 0));
    if (version > steps.size()) {
      throw bad_input("the tables have version {}, made by a newer pits; this one knows versions up to {}", version,
                      steps.size());
    }
    for (std::size_t step = version; step < steps.size(); ++step) database.execute(steps[step]);
    if (version < steps.size()) {
      database.execute("DELETE FROM pits.version");
      database.run("INSERT INTO pits.version VALUES($1)", static_cast<std::int64_t>(steps.size()));
    }
    return 0;
  });
}

void check_tables(Postgres& database) {
  if (database.run("SELECT to_regclass('pits.version') IS NULL").truth(0, 0)) {
    throw bad_input("the database has no tables of pits: `pits serve --store URL` makes them");
  }
  const auto version = database.run("SELECT coalesce(max(version), 0) FROM pits.version").natural(0, 0);
  if (version == steps.size()) return;
  const bool newer = version > steps.size();
  throw bad_input(
      "the tables have version {}, made by {} pits; this one reads version {}: use the pits of the servers{}", version,
      newer ? "a newer" : "an older", steps.size(),
      newer ? "" : ", or start servers of this one, which bring the tables forward");
}

// Each change in a transaction of its own, whose locks are held for a moment. One that cannot get them, because a
// backup reads the tables, is tried another time.
bool keep_partitions(Postgres& database, const PartitionAges& ages) {
  const auto end = std::chrono::steady_clock::now() + ages.work;
  const auto locked = [&](const auto& change) {
    try {
      database.transaction([&] {
        database.execute("SET LOCAL lock_timeout = '200ms'");
        if (database.run("SELECT pg_try_advisory_xact_lock($1)", partition_lock).truth(0, 0)) change();
        return 0;
      });
    } catch (const ConnectionError&) {
      throw;
    } catch (const Error&) {  // events go to the newest partition there is, and old ones stay
    }
  };
  locked([&] {
    const Rows newest = database.run(
        "SELECT part, opened < now() - make_interval(secs => $1) FROM pits.part ORDER BY part DESC LIMIT 1",
        ages.length);
    if (newest.truth(0, 1)) open_partition(database, newest.number(0, 0) + 1);
  });
  const Rows closed = database.run(
      "SELECT p.part FROM pits.part p WHERE p.part > 0 AND EXISTS (SELECT 1 FROM pits.part next WHERE next.part > "
      "p.part AND"
      " next.opened < now() - make_interval(secs => $1)) ORDER BY p.part",
      ages.closed);
  bool more = false;
  for (int row = 0; row < closed.size(); ++row) {
    const std::int64_t part = closed.number(row, 0);
    bool left = false;
    do {
      left = false;
      locked([&] {
        if (!is_needed(database, part)) return drop_partition(database, part);
        left = delete_dropped(database, part);
      });
    } while (left && std::chrono::steady_clock::now() < end);
    more = more || left;
  }
  return more;
}

void clean_inbox(Postgres& database) {
  constexpr std::int64_t most_calls = 5000;
  database.run(
      "DELETE FROM pits.inbox i USING (SELECT sender, n FROM pits.inbox o WHERE n > 0 AND"
      "   NOT EXISTS (SELECT 1 FROM pits.bandit b WHERE b.id = o.bandit) LIMIT $1) d"
      " WHERE i.sender = d.sender AND i.n = d.n",
      most_calls);
}

}  // namespace pits
