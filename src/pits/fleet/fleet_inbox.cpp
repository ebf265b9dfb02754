// What a server of a fleet reads from the others: their calls. A notification says that there is something to read;
// where it was lost, somebody looks a little later.
#include "pits/fleet/fleet.h"

namespace pits {
namespace {

using std::chrono::milliseconds;

constexpr Microseconds patience = 500'000;  // for a decision that is on its way from another server
constexpr Microseconds rescan_every = 1'000'000;
constexpr Microseconds answers_kept = 60'000'000;  // of a sender that is gone: it may come back
constexpr milliseconds soon{1}, inbox_every{10}, retry{100};
constexpr Microseconds shortest_wait = 1'000, longest_wait = 64'000;      // before a row is tried again
constexpr std::int64_t most_rows = 300;                                   // of one sender, at once
constexpr std::int64_t most_bytes = 4 << 20;                              // at once, and one row more
constexpr std::size_t most_taken = 10'000, most_taken_bytes = 128 << 20;  // rows that are being carried out

// The first rows of every sender without an answer, in turn, as far as their bytes go. $1 senders, $2 where each of
// them starts, $3 this server, $4 rows, $5 bandits that it cannot serve now, $6 bytes.
constexpr const char* open_calls =
    "SELECT sender, n, bandit, calls, unheld FROM (SELECT i.*,"
    "   sum(length(i.calls)) OVER (ORDER BY i.turn, i.sender) - length(i.calls) AS before"
    "   FROM unnest($1::bigint[], $2::bigint[]) AS f(sender, n) JOIN LATERAL (SELECT i.sender, i.n, i.bandit, i.calls,"
    "     b.holder IS NULL AS unheld, row_number() OVER (ORDER BY i.n) AS turn"
    "     FROM pits.inbox i JOIN pits.bandit b ON b.id = i.bandit"
    "     WHERE i.sender = f.sender AND i.n >= f.n AND i.answers IS NULL AND (b.holder = $3 OR b.holder IS NULL)"
    "     AND i.bandit <> ALL($5) ORDER BY i.n LIMIT $4) i ON true) i"
    " WHERE before < $6 ORDER BY turn, sender";

}  // namespace

struct Fleet::InboxRow {
  BanditId bandit = 0;
  std::string calls{};
  Microseconds seen = 0;  // steady
  Microseconds wait = 0;  // before it was tried the last time
  Microseconds due = 0;   // not yet: when it is tried again; 0: it is being tried

  // It waits twice as long each time. When nobody is patient any more, it is answered.
  void put_off() {
    const Microseconds now = system_clock().steady(), end = seen + patience;
    wait = std::clamp(2 * wait, shortest_wait, longest_wait);
    due = now < end ? std::min(now + wait, end) : now + wait;
  }
};

// Rows that this server carries out, or waits to.
struct Fleet::Inbox {
  using Key = std::pair<ServerId, std::int64_t>;
  std::map<ServerId, std::int64_t> from{};  // rows below are known
  std::map<ServerId, Microseconds> gone{};  // senders that are no servers any more: since when
  Microseconds scanned = 0;
  std::mutex mutex{};  // of what follows
  std::map<Key, InboxRow> taken{};
  std::size_t taken_bytes = 0;
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
      const milliseconds next = try_again();
      const bool more = read_inbox(*database);
      pause = more ? milliseconds(0) : next;
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

void Fleet::dispatch(const std::pair<ServerId, std::int64_t>& key, InboxRow row, Microseconds since) {
  const auto bandit = this->bandit(row.bandit);
  const FleetBandit::Taken taken{.sender = key.first,
                                 .number = key.second,
                                 .calls = row.calls,
                                 .patient = system_clock().steady() - row.seen < patience};
  {
    const std::scoped_lock lock(inbox_->mutex);
    InboxRow& known = inbox_->taken[key];
    inbox_->taken_bytes += row.calls.size() - known.calls.size();
    known = std::move(row);
    known.due = 0;
  }
  const auto finished = [this, inbox = inbox_, key](FleetBandit::Fate fate) {
    const std::scoped_lock lock(inbox->mutex);
    const auto known = inbox->taken.find(key);
    if (fate == FleetBandit::Fate::not_yet) return known->second.put_off();
    inbox->taken_bytes -= known->second.calls.size();
    inbox->taken.erase(known);
    if (fate == FleetBandit::Fate::failed) rescan_ = true;
    if (fate == FleetBandit::Fate::answered && inbox->answered.insert(key.first).second) calls_.ring();
  };
  if (!bandit || !bandit->take(taken, since, finished)) finished(FleetBandit::Fate::failed);
}

// Rows whose time has come. Returns when to look again, at the latest.
milliseconds Fleet::try_again() {
  const Microseconds now = system_clock().steady();
  Microseconds next = inbox_every / std::chrono::microseconds(1);
  std::vector<std::pair<Inbox::Key, InboxRow>> again;
  {
    const std::scoped_lock lock(inbox_->mutex);
    for (const auto& [key, row] : inbox_->taken) {
      if (row.due == 0) continue;
      if (row.due <= now) again.emplace_back(key, row);
      next = std::min(next, row.due <= now ? 2 * row.wait : row.due - now);
    }
  }
  for (auto& [key, row] : again) {
    const Microseconds seen = row.seen;
    // The row was read after the lease was taken; where it was lost meanwhile, nothing can be written.
    dispatch(key, std::move(row), seen);
  }
  return std::max(milliseconds(next / 1000), soon);
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

// False where this server has not held the lease since then, or has lost it.
bool Fleet::take_row(const std::pair<ServerId, std::int64_t>& key, InboxRow row, Microseconds since) {
  const auto open = bandit(row.bandit);
  const auto held = open ? open->holding() : nullptr;
  if (!held || held->since >= since || held->store.lost()) return false;
  row.seen = system_clock().steady();
  dispatch(key, std::move(row), since);
  return true;
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
    if (inbox.taken.size() >= most_taken || inbox.taken_bytes >= most_taken_bytes) return false;
    for (const auto& [key, row] : inbox.taken) known.insert(key);
  }
  const Postgres::Patience enough(database, Postgres::patience_for(2 * most_bytes));
  const Rows rows = database.run(open_calls, senders, from, id_, most_rows, unready(), most_bytes);
  std::set<ServerId> blocked;
  std::int64_t bytes = 0;
  bool moved = false;
  for (int i = 0; i < rows.size(); ++i) {
    const Inbox::Key key{rows.number(i, 0), rows.number(i, 1)};
    const BanditId id = rows.number(i, 2);
    std::string calls = rows.text(i, 3);
    bytes += static_cast<std::int64_t>(calls.size());
    if (!known.contains(key) && !take_row(key, {.bandit = id, .calls = std::move(calls)}, now)) {
      blocked.insert(key.first);
      if (!rows.truth(i, 4) || prefers_me(id) || waited(id)) want(id);
    }
    if (blocked.contains(key.first)) continue;
    inbox.from[key.first] = key.second + 1;  // where it fails, all are looked at again
    moved = true;
  }
  return moved && blocked.empty() && (rows.size() >= most_rows || bytes >= most_bytes);
}

// A call without a holder is left to the server that it suits best, for a while.
bool Fleet::waited(BanditId bandit) {
  const std::scoped_lock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const auto [known, is_new] = unheld_.try_emplace(bandit, now);
  if (now - known->second > std::chrono::seconds(2)) known->second = now;  // another time
  return now - known->second > milliseconds(150);
}

}  // namespace pits
