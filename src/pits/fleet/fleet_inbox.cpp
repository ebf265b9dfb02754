// What a server of a fleet reads from the others: their calls, and new policies. A notification says that there is
// something to read; where it was lost, somebody looks a little later.
#include "pits/fleet/fleet.h"
#include "pits/fleet/tables.h"

namespace pits {
namespace {

using std::chrono::milliseconds;

constexpr Microseconds patience = 500'000;  // for a decision that is on its way from another server
constexpr Microseconds rescan_every = 1'000'000;
constexpr Microseconds answers_kept = 60'000'000;  // of a sender that is gone: it may come back
constexpr milliseconds soon{1}, inbox_every{10}, retry{100}, models_every{200};
constexpr Microseconds all_models_every = 1'000'000;
constexpr std::int64_t most_rows = 300;           // of one sender, at once
constexpr Microseconds look_every = 600'000'000;  // for partitions, and contexts of idle bandits that are to be erased

}  // namespace

// Rows that this server carries out, or waits to.
struct Fleet::Inbox {
  using Key = std::pair<ServerId, std::int64_t>;
  struct Row {
    BanditId bandit = 0;
    std::string calls{};
    Microseconds seen = 0;
    bool later = false;  // not yet: it is tried again
  };
  std::map<ServerId, std::int64_t> from{};  // rows below are known
  std::map<ServerId, Microseconds> gone{};  // senders that are no servers any more: since when
  Microseconds scanned = 0;
  std::mutex mutex{};  // of what follows
  std::map<Key, Row> taken{};
  std::set<ServerId> answered{};  // those who are to be told
};

std::shared_ptr<Fleet::Inbox> Fleet::make_inbox() { return std::make_shared<Inbox>(); }

void Fleet::poll_inbox() {
  std::unique_ptr<Postgres> database;
  for (milliseconds pause{0};;) {
    try {
      if (!database || database->broken()) {
        database = std::make_unique<Postgres>(config_.url);
        // Nothing here has to be durable. Calls are read in order from an index that has only those without an answer,
        // which the planner, knowing nothing of their number, would rather sort.
        database->execute("SET synchronous_commit = off; SET enable_bitmapscan = off; SET enable_seqscan = off");
      }
      tell_answered(*database);
      const bool later = try_again();
      const bool more = read_inbox(*database);
      pause = more ? milliseconds(0) : later ? soon : inbox_every;
      link_->report(LinkPart::inbox, "");
    } catch (const std::exception& e) {
      link_->report(LinkPart::inbox, e.what());
      pause = retry;
    }
    calls_.wait(pause);
    const std::scoped_lock lock(mutex_);
    if (stopping_) break;
  }
}

void Fleet::tell_answered(Postgres& database) {
  std::set<ServerId> answered;
  {
    const std::scoped_lock lock(inbox_->mutex);
    answered.swap(inbox_->answered);
  }
  if (answered.empty()) return;
  database.run("SELECT pg_notify('pits', 'answers ' || sender) FROM unnest($1::bigint[]) AS sender",
               Numbers(answered.begin(), answered.end()));
}

void Fleet::dispatch(const std::pair<ServerId, std::int64_t>& key, BanditId id, const std::string& calls,
                     Microseconds seen, Microseconds since) {
  const auto bandit = this->bandit(id);
  const FleetBandit::Taken taken{
      .sender = key.first, .number = key.second, .calls = calls, .patient = system_clock().steady() - seen < patience};
  {
    const std::scoped_lock lock(inbox_->mutex);
    inbox_->taken[key] = {.bandit = id, .calls = calls, .seen = seen};
  }
  const auto finished = [this, inbox = inbox_, key](FleetBandit::Fate fate) {
    const std::scoped_lock lock(inbox->mutex);
    if (fate == FleetBandit::Fate::not_yet) {
      inbox->taken[key].later = true;
    } else {
      inbox->taken.erase(key);
      if (fate == FleetBandit::Fate::failed) rescan_ = true;
      if (fate == FleetBandit::Fate::answered && inbox->answered.insert(key.first).second) calls_.ring();
    }
  };
  if (!bandit || !bandit->take(taken, since, finished)) finished(FleetBandit::Fate::failed);
}

bool Fleet::try_again() {
  std::vector<std::pair<Inbox::Key, Inbox::Row>> again;
  {
    const std::scoped_lock lock(inbox_->mutex);
    for (const auto& [key, row] : inbox_->taken) {
      if (row.later) again.emplace_back(key, row);
    }
  }
  // The row was read after the lease was taken; where it was lost meanwhile, nothing can be written.
  for (const auto& [key, row] : again) dispatch(key, row.bandit, row.calls, row.seen, row.seen);
  return !again.empty();
}

// Whose calls there are or may come. The index is walked from sender to sender.
void Fleet::scan_senders(Postgres& database, Microseconds now) {
  Inbox& inbox = *inbox_;
  const Rows rows = database.run(
      "WITH RECURSIVE s(sender) AS (SELECT min(sender) FROM pits.inbox UNION ALL"
      "   SELECT (SELECT min(i.sender) FROM pits.inbox i WHERE i.sender > s.sender) FROM s WHERE s.sender IS NOT NULL)"
      " SELECT sender, false FROM s WHERE sender IS NOT NULL UNION ALL SELECT id, true FROM pits.server ORDER BY 2");
  inbox.from.clear();
  std::map<ServerId, Microseconds> gone;
  for (int row = 0; row < rows.size(); ++row) {
    const ServerId sender = rows.number(row, 0);
    inbox.from[sender] = 0;
    if (rows.truth(row, 1)) {
      gone.erase(sender);
    } else {
      const auto before = inbox.gone.find(sender);
      gone[sender] = before == inbox.gone.end() ? now : before->second;
    }
  }
  inbox.gone = std::move(gone);
  for (const auto& [sender, since] : inbox.gone) {
    if (now - since < answers_kept) continue;
    database.run("DELETE FROM pits.inbox WHERE sender = $1 AND answers IS NOT NULL", sender);
  }
}

// True where there is more than could be read at once.
bool Fleet::read_inbox(Postgres& database) {
  Inbox& inbox = *inbox_;
  const Microseconds now = system_clock().steady();
  if (rescan_.exchange(false) || now - inbox.scanned > rescan_every) {
    inbox.scanned = now;
    scan_senders(database, now);
  }
  Numbers senders, from;
  for (const auto& [sender, first] : inbox.from) senders.push_back(sender), from.push_back(first);
  std::set<Inbox::Key> known;  // when the question is asked: an answer may be on its way
  {
    const std::scoped_lock lock(inbox.mutex);
    for (const auto& [key, row] : inbox.taken) known.insert(key);
  }
  const Rows rows = database.run(
      "SELECT i.sender, i.n, i.bandit, i.calls, i.holder IS NULL FROM unnest($1::bigint[], $2::bigint[]) AS f(sender, "
      "n)"
      " JOIN LATERAL (SELECT i.*, b.holder FROM pits.inbox i JOIN pits.bandit b ON b.id = i.bandit"
      "   WHERE i.sender = f.sender AND i.n >= f.n AND i.answers IS NULL AND (b.holder = $3 OR b.holder IS NULL)"
      "   AND i.bandit <> ALL($5) ORDER BY i.n LIMIT $4) i ON true ORDER BY i.sender, i.n",
      senders, from, id_, most_rows, unready());
  std::map<ServerId, std::int64_t> blocked;
  for (int i = 0; i < rows.size(); ++i) {
    const Inbox::Key key{rows.number(i, 0), rows.number(i, 1)};
    const BanditId id = rows.number(i, 2);
    if (known.contains(key)) continue;
    const auto open = bandit(id);
    const auto held = open ? open->holding() : nullptr;
    if (held && held->since < now && !held->store.lost()) {
      dispatch(key, id, rows.text(i, 3), system_clock().steady(), now);
      if (!blocked.contains(key.first)) inbox.from[key.first] = key.second + 1;
      continue;
    }
    blocked.try_emplace(key.first, key.second);
    if (!rows.truth(i, 4) || prefers_me(id) || waited(id)) want(id);
  }
  return rows.size() >= most_rows && blocked.empty();
}

// A call without a holder is left to the server that it suits best, for a while.
bool Fleet::waited(BanditId bandit) {
  const std::scoped_lock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const auto [known, is_new] = unheld_.try_emplace(bandit, now);
  if (now - known->second > std::chrono::seconds(2)) known->second = now;  // another time
  return now - known->second > milliseconds(150);
}

void Fleet::listen() {
  const std::string calls = fmt::format("calls {}", id_), answers = fmt::format("answers {}", id_);
  std::unique_ptr<Postgres> database;
  for (milliseconds pause{0}; !nap(pause);) {
    try {
      if (!database || database->broken()) {
        database = std::make_unique<Postgres>(config_.url);
        database->execute("LISTEN pits");
      }
      for (const std::string& word : database->wait(models_every)) {
        if (word == calls) calls_.ring();
        if (word == answers) link_->outbox.look();
        if (word.empty()) models_.ring();
      }
      pause = milliseconds(0);
    } catch (const std::exception&) {  // nothing is lost: others look without a word
      pause = retry;
    }
  }
}

// Whoever holds one looks for what is to be erased.
void Fleet::wake_idle(Postgres& database) {
  const Rows rows = database.run("SELECT id FROM pits.bandit WHERE holder IS NULL AND look_at < now()");
  for (int row = 0; row < rows.size(); ++row) want(rows.number(row, 0));
}

void Fleet::follow_models() {
  std::unique_ptr<Postgres> database;
  Microseconds all_read = 0, looked_at = system_clock().steady() - look_every;
  for (milliseconds pause{0}; !nap(pause);) {
    try {
      if (!database || database->broken()) database = std::make_unique<Postgres>(config_.url);
      const Microseconds start = system_clock().steady();
      const bool all = start - all_read >= all_models_every;
      read_models(*database, all);
      if (all) all_read = start;
      if (start - looked_at >= look_every) {
        looked_at = start;
        keep_partitions(*database);
        if (config_.learns) wake_idle(*database);
      }
      // Reading takes at most a tenth of the time, however many bandits there are.
      pause = milliseconds(10 * (system_clock().steady() - start) / 1000);
      link_->report(LinkPart::models, "");
      models_.wait(models_every);
    } catch (const std::exception& e) {
      link_->report(LinkPart::models, e.what());
      pause = retry;
    }
  }
}

// Those that somebody learns and new ones, or all: nothing happens to the others.
void Fleet::read_models(Postgres& database, bool all) {
  const Rows rows = database.run(
      "SELECT id, name, last, model FROM pits.bandit WHERE last > 0 AND holder IS NOT NULL AND id <= $1"
      " UNION ALL SELECT id, name, last, model FROM pits.bandit WHERE last > 0 AND id > $1",
      all ? 0 : newest_);
  for (int row = 0; row < rows.size(); ++row) {
    const BanditId id = rows.number(row, 0);
    {
      const std::scoped_lock lock(mutex_);
      names_[rows.text(row, 1)] = id;
    }
    newest_ = std::max(newest_, id);
    if (const auto open = bandit(id)) open->heard(rows.natural(row, 2), rows.natural(row, 3));
  }
}

}  // namespace pits
