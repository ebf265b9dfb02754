// A server of a fleet: many of them share the bandits of one database. Each decides by the newest policy that it has
// read, and leaves what it takes in the database; for each bandit one of them holds a lease, carries out the calls of
// all and learns (docs/decisions/postgresql.md).
//
//   pits::Fleet fleet({.url = "postgresql://pits@db/pits"});
//   fleet.create("shop", {.actions = {"tea", "milk"}});
//   const auto shop = fleet.open("shop");
#pragma once

#include <set>

#include "pits/fleet/database_clock.h"
#include "pits/fleet/fleet_bandit.h"

namespace pits {

// Wakes one thread. Who rings before it waits is heard all the same.
class Bell {
 public:
  void ring() {
    {
      const std::scoped_lock lock(mutex_);
      rung_ = true;
    }
    rings_.notify_one();
  }
  void wait(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    rings_.wait_for(lock, most, [&] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable rings_;
  bool rung_ = false;
};

struct FleetConfig {
  std::string url;
  std::string name = "pits";             // of this server, for people
  bool learns = true;                    // takes leases
  double lease = 2.0;                    // seconds after which a server that says nothing has lost its leases
  double model_age = 0.5;                // seconds after which a policy is followed by a newer one, where there is one
  double patience = 10.0;                // seconds that callers wait for the answer of the server that learns
  double idle = 30.0;                    // seconds without a call after which nobody needs to hold a lease
  const Clock* clock = &system_clock();  // of this machine; logs have the database's time
};

class Fleet {
 public:
  // The tables are made or brought forward. Throws where the database cannot be reached or its tables are newer.
  explicit Fleet(const FleetConfig& config);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  std::vector<std::string> names() const;  // of the bandits that this server has heard of
  // Reads the newest policy. Throws where there is no such bandit.
  std::shared_ptr<FleetBandit> open(const std::string& name);
  // False where there is one with this name already.
  bool create(const std::string& name, const LiveSetup& setup);
  // A text that all servers share; change(text) makes the new one of the old one, which is empty at first.
  std::string secret(const std::string& name, const std::function<std::string(const std::string&)>& change);
  std::string problem() const { return link_->problem(); }

 private:
  struct Member {
    ServerId id;
    bool learns;
  };
  using Time = std::chrono::steady_clock::time_point;
  static constexpr int workers = 3;  // threads that take leases and hand them on

  bool made_elsewhere(const std::string& name);
  void watch();
  void beat(Postgres& session);
  void take_leases(Postgres& session);
  void look_after(FleetBandit& bandit);
  void keep_ids();
  Numbers needy() const;  // those that will need ids
  void reserve_ids(const Numbers& needy);
  bool prefers_me(BanditId bandit) const;
  void want(BanditId bandit);
  void work();
  Numbers unready();
  void hold(BanditId bandit);
  void recover(const std::shared_ptr<FleetBandit>& bandit, Epoch epoch);
  void release(FleetBandit& bandit, bool wanted);
  void release_all();
  struct InboxRow;
  struct Inbox;
  static std::shared_ptr<Inbox> make_inbox();
  void poll_inbox();
  void tell_answered(Postgres& database);
  void scan_senders(Postgres& database, Microseconds now);
  bool read_inbox(Postgres& database);
  bool take_row(const std::pair<ServerId, std::int64_t>& key, InboxRow row, Microseconds since);
  void dispatch(const std::pair<ServerId, std::int64_t>& key, InboxRow row, Microseconds since);
  std::chrono::milliseconds try_again();
  bool waited(BanditId bandit);
  void listen();
  void follow_models();
  void read_models(Postgres& database, bool all);
  void wake_idle(Postgres& database);
  std::shared_ptr<FleetBandit> bandit(BanditId id) const;
  bool nap(std::chrono::milliseconds length);
  std::thread in_thread(const char* name, std::function<void()> run);
  bool stopping() const;

  FleetConfig config_;
  DatabaseClock clock_;
  std::shared_ptr<PostgresPool> pool_;
  ServerId id_ = 0;
  std::shared_ptr<FleetLink> link_;

  std::stop_source stop_;     // of recoveries
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable wake_, to_workers_;
  bool stopping_ = false;  // leases are handed on
  bool ended_ = false;     // all of them were
  std::map<std::string, BanditId, std::less<>> names_;
  std::map<BanditId, std::shared_ptr<FleetBandit>> bandits_;
  std::map<BanditId, std::shared_ptr<FleetBandit>> held_;  // of them: those whose leases this server has
  std::vector<Member> members_;
  std::map<BanditId, Time> orphans_;  // without a holder: since when this server knows
  std::deque<std::function<void()>> jobs_;
  std::deque<BanditId> job_ids_;
  std::set<BanditId> wanted_;        // of jobs_, and those that run
  std::set<BanditId> running_;       // of them: those that run
  std::map<BanditId, Time> unfit_;   // whose logs could not be recovered here: until when nobody tries again
  std::map<BanditId, Time> unheld_;  // calls came for them: since when
  std::atomic<bool> rescan_{false};
  Bell calls_, models_;           // of those who read them
  BanditId newest_ = 0;           // of the thread that follows the models
  std::shared_ptr<Inbox> inbox_;  // outlives the books that its rows are given to
  std::vector<std::thread> threads_;
  std::thread watch_thread_;  // ends last: until then nobody takes this server for dead
};

}  // namespace pits
