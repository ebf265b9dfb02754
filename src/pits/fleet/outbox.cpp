#include "pits/fleet/outbox.h"

#include <pthread.h>

#include <ranges>

namespace pits {
namespace {

constexpr std::size_t most_queued = 100'000;          // decisions that nobody waits for
constexpr std::size_t most_queued_bytes = 256 << 20;  // of them
constexpr std::size_t most_calls = 500;               // in a row
constexpr std::size_t most_rows = 500;                // in one insert
constexpr std::size_t most_bytes = 4 << 20;           // in a row or an insert of more than one call or row
constexpr std::chrono::milliseconds retry{50};
constexpr std::chrono::seconds durable_after{1};  // by the database, though nobody waits for it

using Steady = std::chrono::steady_clock;

// In memory and in the database, about.
std::size_t size_of(const Decided& decided) {
  constexpr std::size_t rest = 200;  // what does not depend on it
  return rest + decided.context.size() + decided.key.size() + decided.allowed.size() +
         sizeof(float) * (decided.x.size() + decided.features.size() + decided.propensities.size());
}

std::exception_ptr ended() { return std::make_exception_ptr(failed("the service has ended")); }

}  // namespace

Outbox::Outbox(std::string url, ServerId sender, std::chrono::milliseconds patience, Report report,
               std::chrono::milliseconds kept)
    : url_(std::move(url)), sender_(sender), patience_(patience), report_(std::move(report)), kept_(kept) {
  sender_thread_ = std::thread([this] { send(); });
  receiver_thread_ = std::thread([this] { receive(); });
}

void Outbox::stop() {
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  to_sender_.notify_all();
  to_receiver_.notify_all();
  sender_thread_.join();
  receiver_thread_.join();
  // Nobody adds or takes rows any more.
  for (Row& row : waiting_) {
    if (row.done) row.done(nullptr, ended());
  }
  waiting_.clear();
  for (auto& [number, row] : sent_) row.done(nullptr, ended());
  sent_.clear();
}

bool Outbox::add(BanditId bandit, Call call, CallDone done) {
  call.waits = static_cast<bool>(done);
  const std::size_t size = !done && call.decided ? size_of(*call.decided) : 0;
  if (!done) {
    if (queued_ >= most_queued || queued_bytes_ + size > most_queued_bytes) return false;
    ++queued_;
    queued_bytes_ += size;
  }
  {
    std::unique_lock lock(mutex_);
    if (stopping_) {
      lock.unlock();
      if (done) done(nullptr, ended());
      return done != nullptr;
    }
    Row* last = waiting_.empty() ? nullptr : &waiting_.back();
    if (!done && last != nullptr && !last->done && last->bandit == bandit && last->calls.size() < most_calls &&
        last->unwaited_bytes + size <= most_bytes) {
      last->calls.push_back(std::move(call));
      last->unwaited_bytes += size;
      return true;
    }
    Row row{.bandit = bandit, .done = std::move(done), .since = Steady::now(), .unwaited_bytes = size};
    row.calls.push_back(std::move(call));
    waiting_.push_back(std::move(row));
  }
  to_sender_.notify_one();
  return true;
}

// None where there is nothing to send for a while.
std::deque<Outbox::Row> Outbox::next_rows(bool& stopping) {
  std::unique_lock lock(mutex_);
  to_sender_.wait_for(lock, durable_after, [&] { return stopping_ || !waiting_.empty(); });
  stopping = stopping_;
  std::deque<Row> rows;
  add_copies(rows);
  while (!waiting_.empty() && rows.size() < most_rows) {
    rows.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    rows.back().number = ++last_number_;
  }
  return rows;
}

// Rows without an answer: the database may have been restarted before they were durable.
void Outbox::add_copies(std::deque<Row>& rows) {
  const auto now = Steady::now();
  if (now - copied_ < durable_after) return;
  copied_ = now;
  for (const auto& [number, row] : sent_) {
    if (now - row.sent < durable_after) continue;
    rows.push_back({.bandit = row.bandit, .number = number, .bytes = row.bytes, .copy = true});
  }
}

// Those that nobody waits for are remembered until they are certainly durable.
void Outbox::written(std::deque<Row>& rows, std::size_t count) {
  for (; count > 0; --count, rows.pop_front()) {
    Row& row = rows.front();
    queued_ -= row.unwaited;
    queued_bytes_ -= row.unwaited_bytes;
    if (row.unwaited > 0) recent_.push_back(std::move(row));
  }
  while (!recent_.empty() && Steady::now() - recent_.front().sent > durable_after) recent_.pop_front();
}

// After a failure: all that may be lost is sent again, the oldest first.
void Outbox::take_back(std::deque<Row>& rows) {
  std::erase_if(rows, [](const Row& row) { return row.copy; });
  for (const Row& row : recent_) queued_ += row.unwaited, queued_bytes_ += row.unwaited_bytes;
  rows.insert(rows.begin(), std::make_move_iterator(recent_.begin()), std::make_move_iterator(recent_.end()));
  recent_.clear();
}

// Those who have waited too long are told, and nothing of theirs is sent after that.
void Outbox::expire(std::deque<Row>& rows, const std::string& reason) {
  const auto now = Steady::now();
  const auto error = std::make_exception_ptr(failed("{}", reason));
  std::erase_if(rows, [&](const Row& row) {
    if (!row.done || now - row.since < patience_) return false;
    bool told = false;
    {
      const std::scoped_lock lock(mutex_);
      told = sent_.erase(row.number) == 0 && row.sent != Time{};
    }
    if (!told) row.done(nullptr, error);
    return true;
  });
}

bool Outbox::nap(std::chrono::milliseconds length) {
  std::unique_lock lock(mutex_);
  return to_sender_.wait_for(lock, length, [&] { return stopping_; });
}

void Outbox::send() {
  pthread_setname_np(pthread_self(), "pits outbox");
  std::unique_ptr<Postgres> database;
  std::deque<Row> rows;
  for (bool stopping = false, failing = false;;) {
    if (rows.empty()) rows = next_rows(stopping);
    if (rows.empty() && stopping) return;
    const bool sends = !rows.empty();
    if (!sends && !failing && !(last_number_ > 0 && clean_due())) continue;
    try {
      if (!database || database->broken()) {
        database = std::make_unique<Postgres>(url_);
        database->execute("SET synchronous_commit = off");
      }
      if (!sends && failing) try_to_write(*database);
      while (!rows.empty()) written(rows, insert(*database, rows));
      if (clean_due()) clean(*database);
      failing = false;
      report_(LinkPart::calls, "");
    } catch (const std::exception& e) {
      failing = true;
      report_(LinkPart::calls, e.what());
      take_back(rows);
      expire(rows, e.what());
      if (nap(retry)) {
        for (Row& row : rows) row.since = {};
        return expire(rows, e.what());
      }
    }
  }
}

// After a failure no calls may come until it is over, and nobody else would find out.
void Outbox::try_to_write(Postgres& database) {
  database.run("INSERT INTO pits.inbox(sender, n, bandit, calls) VALUES($1, 0, 0, '') ON CONFLICT DO NOTHING", sender_);
  database.run("DELETE FROM pits.inbox WHERE sender = $1 AND n = 0", sender_);
}

// A row that was inserted before its connection was lost is there already. Who holds the leases is told, where somebody
// does.
std::size_t Outbox::insert(Postgres& database, std::deque<Row>& rows) {
  Numbers numbers, bandits;
  Blobs bytes;
  std::size_t size = 0;
  for (Row& row : rows) {
    if (row.bytes.empty()) {
      row.unwaited = row.done ? 0 : row.calls.size();
      row.bytes = packed(std::exchange(row.calls, {}));
    }
    if ((size += row.bytes.size()) > most_bytes && !bytes.empty()) break;
    numbers.push_back(row.number);
    bandits.push_back(row.bandit);
    bytes.push_back(row.bytes);
  }
  {  // before they are there: their answers may come at once
    const std::scoped_lock lock(mutex_);
    const auto now = Steady::now();
    for (Row& row : rows | std::views::take(bytes.size())) {
      if (row.done && row.sent == Time{}) {
        sent_[row.number] = {
            .bandit = row.bandit, .done = row.done, .since = row.since, .bytes = row.bytes, .sent = now};
      }
      row.sent = now;
    }
  }
  database.run(
      "WITH new AS (INSERT INTO pits.inbox(sender, n, bandit, calls) SELECT $1, u.n, u.bandit, u.calls"
      "   FROM unnest($2::bigint[], $3::bigint[], $4::bytea[]) AS u(n, bandit, calls) ON CONFLICT DO NOTHING)"
      " SELECT pg_notify('pits', 'calls ' || holder) FROM"
      " (SELECT DISTINCT holder FROM pits.bandit WHERE id = ANY($3) AND holder > 0) AS h",
      sender_, numbers, bandits, bytes);
  to_receiver_.notify_one();
  return bytes.size();
}

// Also where nothing is sent: what was sent last stays no longer.
bool Outbox::clean_due() const { return marks_.empty() || Steady::now() - marks_.back().first >= kept_ / 10; }

void Outbox::clean(Postgres& database) {
  const auto now = Steady::now();
  marks_.emplace_back(now, last_number_);
  if (now - marks_.front().first < kept_) return;
  database.run("DELETE FROM pits.inbox WHERE sender = $1 AND n <= $2 AND answers IS NOT NULL", sender_,
               marks_.front().second);
  marks_.pop_front();
}

}  // namespace pits
