#include "pits/fleet/lone_lease.h"

#include "pits/fleet/tables.h"

namespace pits {
namespace {

BanditId existing(Postgres& database, const std::string& bandit) {
  check_tables(database);
  const auto id = find_bandit(database, bandit);
  if (!id) throw bad_input("there is no bandit '{}' in the database", bandit);
  return *id;
}

}  // namespace

LoneLease::LoneLease(const std::string& url, const std::string& bandit)
    : pool_(std::make_shared<PostgresPool>(url)), session_(url), bandit_(existing(session_, bandit)) {
  id_ = session_.run("SELECT nextval('pits.server_id_seq')").number(0, 0);
  session_.run("SELECT pg_advisory_lock($1)", session_lock(id_));
  session_.run("INSERT INTO pits.server VALUES($1, 'pits log', false, now() + interval '1 day')", id_);
  const Rows mine = session_.run(
      "UPDATE pits.bandit b SET epoch = epoch + 1, holder = $2 WHERE id = $1 AND (holder IS NULL OR"
      " NOT EXISTS (SELECT 1 FROM pits.server s WHERE s.id = b.holder AND s.expires > now())) RETURNING epoch",
      bandit_, id_);
  if (mine.size() == 0) {
    session_.run("DELETE FROM pits.server WHERE id = $1", id_);
    throw bad_input("a server learns '{}' now: stop those that learn, or set its retention", bandit);
  }
  epoch_ = mine.number(0, 0);
}

LoneLease::~LoneLease() {
  try {
    session_.run("UPDATE pits.bandit SET holder = 0 WHERE id = $1 AND holder = $2", bandit_, id_);
    session_.run("DELETE FROM pits.server WHERE id = $1", id_);
  } catch (const std::exception&) {  // whoever finds the session gone does it
  }
}

std::unique_ptr<PostgresStore> read_log(const std::string& url, const std::string& bandit) {
  auto pool = std::make_shared<PostgresPool>(url);
  const BanditId id = existing(*pool->take(), bandit);
  return std::make_unique<PostgresStore>(std::move(pool), id);
}

}  // namespace pits
