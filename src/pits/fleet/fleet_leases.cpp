// Which bandits a server of a fleet learns: it takes leases, looks after them and hands them on.
#include "pits/fleet/fleet.h"

namespace pits {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds others_first{150};          // that a lease without a holder is left to the server it suits best
constexpr milliseconds try_again_after{2000};      // where a log could not be recovered
constexpr Microseconds least_holding = 2'000'000;  // before a lease is handed on

std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

bool erases_anything(LiveBandit& live) {
  try {
    const LiveConfig config = live.config();
    return config.retention > 0.0 || config.event_retention > 0.0;
  } catch (const std::exception&) {  // whoever holds it next finds out
    return true;
  }
}

}  // namespace

// Rendezvous hashing: every server that learns gets its share, and little moves when one comes or goes.
bool Fleet::prefers_me(BanditId bandit) const {
  const auto weight = [&](ServerId server) {
    return mixed(mixed(static_cast<std::uint64_t>(server)) ^ static_cast<std::uint64_t>(bandit));
  };
  const std::scoped_lock lock(mutex_);
  for (const Member& member : members_) {
    if (member.learns && weight(member.id) > weight(id_)) return false;
  }
  return true;
}

void Fleet::take_leases(Postgres& session) {
  const Rows rows = session.run(
      "SELECT b.id FROM pits.bandit b WHERE b.holder IS NOT NULL AND b.last > 0 AND (b.holder = $1 OR"
      " NOT EXISTS (SELECT 1 FROM pits.server s WHERE s.id = b.holder))",
      id_);
  std::map<BanditId, Time> orphans;
  const auto now = std::chrono::steady_clock::now();
  for (int row = 0; row < rows.size(); ++row) {
    const BanditId id = rows.number(row, 0);
    const auto open = bandit(id);
    if (open && open->holding()) continue;
    const auto known = orphans_.find(id);
    orphans[id] = known == orphans_.end() ? now : known->second;
    if (prefers_me(id) || now - orphans[id] >= others_first) want(id);
  }
  orphans_ = std::move(orphans);
}

void Fleet::look_after(FleetBandit& bandit) {
  const auto held = bandit.holding();
  if (!held) return;
  const Microseconds now = system_clock().steady();
  if (held->called.exchange(false)) held->used = now;
  const bool idle = static_cast<double>(now - held->used) > 1e6 * config_.idle && held->live.idle();
  const bool moves = now - held->since > least_holding && !prefers_me(bandit.id());
  if (!held->store.lost() && !idle && !moves) return;
  const std::scoped_lock lock(mutex_);
  if (!wanted_.insert(bandit.id()).second) return;
  jobs_.emplace_back([this, id = bandit.id(), idle] {
    if (const auto open = this->bandit(id)) release(*open, !idle);
  });
  job_ids_.push_back(bandit.id());
  to_workers_.notify_one();
}

void Fleet::want(BanditId bandit) {
  const std::scoped_lock lock(mutex_);
  const auto bad = unfit_.find(bandit);
  if (bad != unfit_.end() && std::chrono::steady_clock::now() < bad->second) return;
  if (!wanted_.insert(bandit).second) return;
  jobs_.emplace_back([this, bandit] { hold(bandit); });
  job_ids_.push_back(bandit);
  to_workers_.notify_one();
}

void Fleet::work() {
  for (;;) {
    std::function<void()> job;
    BanditId id = 0;
    {
      std::unique_lock lock(mutex_);
      to_workers_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      id = job_ids_.front();
      jobs_.pop_front();
      job_ids_.pop_front();
      running_.insert(id);
    }
    try {
      job();
    } catch (const ConnectionError&) {  // the next tick tries again
    } catch (const std::exception&) {
      const std::scoped_lock lock(mutex_);
      unfit_[id] = std::chrono::steady_clock::now() + try_again_after;
    }
    {
      const std::scoped_lock lock(mutex_);
      wanted_.erase(id);
      running_.erase(id);
    }
    rescan_ = true;  // its calls were left alone meanwhile
    calls_.ring();
  }
}

// Those whose calls cannot be carried out here now: they are being taken or handed on, or their logs could not be
// recovered a moment ago.
Numbers Fleet::unready() {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  Numbers all(running_.begin(), running_.end());
  std::erase_if(unfit_, [&](const auto& one) { return now >= one.second; });
  for (const auto& [id, until] : unfit_) all.push_back(id);
  return all;
}

void Fleet::hold(BanditId id) {
  auto open = bandit(id);
  if (open && open->holding()) return;
  if (!open) {
    const Rows name = pool_->take()->run("SELECT name FROM pits.bandit WHERE id = $1", id);
    if (name.size() == 0) return;
    open = this->open(name.text(0, 0));
  }
  // The lease need not be durable: the first group that is written under it makes it so. Where a database has lost it,
  // `last` and the epoch refuse what its holder writes, as ever.
  const Rows mine = pool_->take()->run(
      "UPDATE pits.bandit b SET epoch = epoch + 1, holder = $2 WHERE id = $1 AND (holder IS NULL OR holder = $2 OR"
      " NOT EXISTS (SELECT 1 FROM pits.server s WHERE s.id = b.holder))"
      " RETURNING epoch, set_config('synchronous_commit', 'off', true)",
      id, id_);
  if (mine.size() == 0) return;
  try {
    recover(open, mine.number(0, 0));
  } catch (const ConnectionError&) {
    throw;
  } catch (const std::exception& e) {
    // Another server can, perhaps. Where it has the lease already, nothing is wrong.
    const Rows mine_still = pool_->take()->run(
        "UPDATE pits.bandit SET holder = 0 WHERE id = $1 AND holder = $2 AND epoch = $3 RETURNING id", id, id_,
        mine.number(0, 0));
    if (mine_still.size() == 0) return;
    open->set_lease_problem(fmt::format("its log cannot be recovered: {}", e.what()));
    throw;
  }
}

void Fleet::recover(const std::shared_ptr<FleetBandit>& open, Epoch epoch) {
  open->set_holding(std::make_shared<Holding>(
      std::make_unique<PostgresStore>(pool_, open->id(), epoch), clock_,
      SharedServing{
          .decider = open->shared_decider(),
          .model_age = static_cast<Microseconds>(config_.model_age * 1e6),
          .elsewhere = [bandit = open.get()](Decided decided) { bandit->write_elsewhere(std::move(decided)); }},
      stop_.get_token()));
  const std::scoped_lock lock(mutex_);
  held_[open->id()] = open;
}

// Some at once: each waits for its commits.
void Fleet::release_all() {
  std::vector<std::shared_ptr<FleetBandit>> all;
  for (const auto& [id, bandit] : bandits_) all.push_back(bandit);
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) {
    threads.push_back(in_thread("pits leases", [&] {
      for (std::size_t at = next++; at < all.size(); at = next++) {
        try {
          release(*all[at], true);
        } catch (const std::exception&) {  // another server takes the lease when the session is gone
        }
      }
    }));
  }
  for (std::thread& thread : threads) thread.join();
}

// `wanted`: somebody has to go on with it; else whoever gets the next call.
void Fleet::release(FleetBandit& bandit, bool wanted) {
  auto held = bandit.holding();
  if (!held) return;
  bandit.set_holding(nullptr);
  {
    const std::scoped_lock lock(mutex_);
    held_.erase(bandit.id());
  }
  const bool lost = held->store.lost();
  const bool erases = lost || erases_anything(held->live);
  while (held.use_count() > 1) std::this_thread::sleep_for(milliseconds(1));  // calls that are being handed over
  wanted = wanted || held->called || !held->live.idle();                      // they come too late to be learned here
  held.reset();
  if (lost) return;
  const auto holder = wanted ? std::optional<std::int64_t>(0) : std::nullopt;
  pool_->take()->run(
      "UPDATE pits.bandit SET holder = $3, look_at = CASE WHEN $4 THEN now() + interval '1 day' END"
      " WHERE id = $1 AND holder = $2",
      bandit.id(), id_, holder, erases);
}

}  // namespace pits
