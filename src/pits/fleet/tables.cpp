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

constexpr std::array steps{first_tables};
constexpr std::int64_t migration_lock = 0x706974735f6d6967;  // "pits_mig"

}  // namespace

std::span<const char* const> table_steps() { return steps; }

void migrate(Postgres& database, std::span<const char* const> steps) {
  database.transaction([&] {
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

}  // namespace pits
