#include "pits/fleet/fleet.h"

#include <pthread.h>

#include "pits/fleet/lone_lease.h"
#include "pits/fleet/tables.h"
#include "pits/log/first_id.h"

namespace pits {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds tick{25};
constexpr int clock_every = 20;         // ticks
constexpr milliseconds ids_every{500};  // half a block of ids lasts longer
constexpr std::int64_t session_locks = session_lock(0);

}  // namespace

Fleet::Fleet(const FleetConfig& config)
    : config_(config), clock_(*config.clock), pool_(std::make_shared<PostgresPool>(config.url, 8)) {
  {
    const auto database = pool_->take();
    migrate(*database);
    keep_partitions(*database);
    clock_.read(*database);
    id_ = database->run("SELECT nextval('pits.server_id_seq')").number(0, 0);
  }
  link_ = std::make_shared<FleetLink>(config.url, id_, milliseconds(static_cast<std::int64_t>(1e3 * config.patience)));
  read_models(*pool_->take(), true);
  inbox_ = make_inbox();
  watch_thread_ = in_thread("pits watch", [this] { watch(); });
  threads_.push_back(in_thread("pits listens", [this] { listen(); }));
  threads_.push_back(in_thread("pits models", [this] { follow_models(); }));
  threads_.push_back(in_thread("pits ids", [this] { keep_ids(); }));
  if (config.learns) threads_.push_back(in_thread("pits inbox", [this] { poll_inbox(); }));
  for (int i = 0; i < workers; ++i) threads_.push_back(in_thread("pits leases", [this] { work(); }));
}

// Leases are handed on at once, each when all of its bandit is written and learned, and of those that are being taken a
// recovery is given up; until then the session says that this server is alive. Answers to the bandits' calls stop
// before the bandits end.
Fleet::~Fleet() {
  stop_.request_stop();
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  to_workers_.notify_all();
  calls_.ring();
  models_.ring();
  for (std::thread& thread : threads_) thread.join();
  try {  // nobody leaves a lease to it any more
    pool_->take()->run("UPDATE pits.server SET learns = false WHERE id = $1", id_);
  } catch (const std::exception&) {
  }
  release_all();
  link_->outbox.stop();
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  watch_thread_.join();
  try {
    pool_->take()->run("DELETE FROM pits.server WHERE id = $1", id_);
  } catch (const std::exception&) {  // whoever finds the session gone does it
  }
}

std::thread Fleet::in_thread(const char* name, std::function<void()> run) {
  return std::thread([name, run = std::move(run)] {
    pthread_setname_np(pthread_self(), name);
    run();
  });
}

bool Fleet::stopping() const {
  const std::scoped_lock lock(mutex_);
  return stopping_;
}

bool Fleet::nap(milliseconds length) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, length, [&] { return stopping_; });
}

std::vector<std::string> Fleet::names() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [name, id] : names_) all.push_back(name);
  return all;
}

std::shared_ptr<FleetBandit> Fleet::bandit(BanditId id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = bandits_.find(id);
  return found == bandits_.end() ? nullptr : found->second;
}

std::shared_ptr<FleetBandit> Fleet::open(const std::string& name) {
  const auto id = find_bandit(*pool_->take(), name);
  if (!id) throw bad_input("there is no bandit '{}' in the database", name);
  if (auto open = bandit(*id)) return open;
  auto made = std::make_shared<FleetBandit>(*id, name, pool_, link_);
  {
    const std::scoped_lock lock(mutex_);
    made = bandits_.emplace(*id, std::move(made)).first->second;
    names_[name] = *id;
  }
  if (made->needs_ids()) reserve_ids({*id});
  return made;
}

// Two servers may make the same bandit at once: the later one goes on, and its first event is there in a moment.
bool Fleet::made_elsewhere(const std::string& name) {
  const auto end = std::chrono::steady_clock::now() + Postgres::patience;
  while (!find_bandit(*pool_->take(), name)) {
    if (std::chrono::steady_clock::now() > end || nap(tick)) return false;
  }
  return true;
}

bool Fleet::create(const std::string& name, const LiveSetup& setup) {
  const Created created = created_by(setup);  // before anything is written
  Epoch epoch = 0;
  BanditId id = 0;
  {
    const auto database = pool_->take();
    database->run("INSERT INTO pits.bandit(name) VALUES(convert_from($1, 'UTF8')) ON CONFLICT DO NOTHING", name);
    // One that a crash has left without an event is made again.
    const Rows mine = database->run(
        "UPDATE pits.bandit SET epoch = epoch + 1 WHERE name = convert_from($1, 'UTF8') AND last = 0"
        " RETURNING id, epoch",
        name);
    if (mine.size() == 0) return false;
    id = mine.number(0, 0);
    epoch = mine.number(0, 1);
  }
  PostgresStore store(pool_, id, epoch);
  try {
    Ledger::create(store, clock_, created);  // one event: every server has ids of its own
  } catch (const ConnectionError&) {
    throw;
  } catch (const Error&) {
    if ((store.lost() || store.last() > 0) && made_elsewhere(name)) return false;
    throw;
  }
  pool_->take()->execute("NOTIFY pits");
  const std::scoped_lock lock(mutex_);
  names_[name] = id;
  return true;
}

std::string Fleet::secret(const std::string& name, const std::function<std::string(const std::string&)>& change) {
  const auto database = pool_->take();
  return database->transaction([&] {
    database->run("INSERT INTO pits.secret VALUES(convert_from($1, 'UTF8'), '') ON CONFLICT DO NOTHING", name);
    const std::string old =
        database->run("SELECT value FROM pits.secret WHERE name = convert_from($1, 'UTF8') FOR UPDATE", name)
            .text(0, 0);
    const std::string text = change(old);
    if (text != old) {
      database->run("UPDATE pits.secret SET value = $2 WHERE name = convert_from($1, 'UTF8')", name, text);
    }
    return text;
  });
}

// The session says that this server is alive: when it is gone, so is its lock, and others need not wait for the lease.
void Fleet::watch() {
  std::unique_ptr<Postgres> session;
  bool locked = false;
  for (int ticks = 0;;) {
    try {
      if (!session || session->broken()) {
        session = std::make_unique<Postgres>(config_.url);
        session->execute("SET synchronous_commit = off");  // nothing here has to be durable
        locked = false;
      }
      if (!locked) locked = session->run("SELECT pg_try_advisory_lock($1)", session_locks + id_).truth(0, 0);
      beat(*session);
      if (config_.learns && !stopping()) take_leases(*session);
      if (ticks++ % clock_every == 0) clock_.read(*session);
      link_->report(LinkPart::session, "");
    } catch (const std::exception& e) {
      link_->report(LinkPart::session, e.what());
    }
    std::vector<std::shared_ptr<FleetBandit>> held;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [id, bandit] : held_) held.push_back(bandit);
    }
    if (!stopping()) {
      for (const auto& bandit : held) look_after(*bandit);
    }
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, tick, [&] { return ended_; })) return;
  }
}

void Fleet::beat(Postgres& session) {
  const Rows rows = session.run(
      "SELECT id, learns, id <> $1 AND (expires < now() OR pg_try_advisory_xact_lock($2 + id)),"
      " expires < now() + make_interval(secs => $3) FROM pits.server",
      id_, session_locks, 0.75 * config_.lease);
  Numbers dead;
  bool due = true;
  std::vector<Member> members{{id_, config_.learns}};
  for (int row = 0; row < rows.size(); ++row) {
    const ServerId id = rows.number(row, 0);
    if (id == id_) {
      due = rows.truth(row, 3);
    } else if (rows.truth(row, 2)) {
      dead.push_back(id);
    } else {
      members.push_back({id, rows.truth(row, 1)});
    }
  }
  if (due) {
    session.run(
        "INSERT INTO pits.server VALUES($1, convert_from($2, 'UTF8'), $3, now() + make_interval(secs => $4))"
        " ON CONFLICT (id) DO UPDATE SET expires = excluded.expires",
        id_, config_.name, config_.learns && !stopping(), config_.lease);
  }
  if (!dead.empty()) {
    session.run(
        "DELETE FROM pits.server WHERE id = ANY($1) AND (expires < now() OR pg_try_advisory_xact_lock($2 + id))", dead,
        session_locks);
  }
  const std::scoped_lock lock(mutex_);
  members_ = std::move(members);
}

// Not by the thread that says that this server is alive: a commit takes as long as the disk, or another's lock.
void Fleet::keep_ids() {
  do {
    try {
      reserve_ids(needy());
      link_->report(LinkPart::ids, "");
    } catch (const std::exception& e) {
      link_->report(LinkPart::ids, e.what());
    }
  } while (!nap(ids_every));
}

Numbers Fleet::needy() const {
  Numbers needy;
  const std::scoped_lock lock(mutex_);
  for (const auto& [id, bandit] : bandits_) {
    if (bandit->needs_ids()) needy.push_back(id);
  }
  return needy;
}

void Fleet::reserve_ids(const Numbers& needy) {
  if (needy.empty()) return;
  const Rows rows = pool_->take()->run(
      "UPDATE pits.bandit SET next_id = greatest(next_id, $2) + $3 WHERE id IN"
      " (SELECT id FROM pits.bandit WHERE id = ANY($1) ORDER BY id FOR UPDATE) RETURNING id, next_id",
      needy, first_id(system_clock().utc()), id_block);
  for (int row = 0; row < rows.size(); ++row) {
    if (const auto open = bandit(rows.number(row, 0))) open->add_ids(rows.natural(row, 1));
  }
}

}  // namespace pits
