// The lease of a bandit for a tool that works on its log while no server learns it.
#pragma once

#include "pits/fleet/postgres_store.h"

namespace pits {

class LoneLease {
 public:
  // Throws where a server learns the bandit, or there is none with this name.
  LoneLease(const std::string& url, const std::string& bandit);
  ~LoneLease();
  LoneLease(const LoneLease&) = delete;
  LoneLease& operator=(const LoneLease&) = delete;

  std::unique_ptr<PostgresStore> store() const { return std::make_unique<PostgresStore>(pool_, bandit_, epoch_); }

 private:
  std::shared_ptr<PostgresPool> pool_;
  Postgres session_;  // when it is gone, others need not wait
  BanditId bandit_ = 0;
  std::int64_t id_ = 0;
  Epoch epoch_ = 0;
};

// For reading; an Error where there is no such bandit.
std::unique_ptr<PostgresStore> read_log(const std::string& url, const std::string& bandit);

// A server's session holds this lock as long as it is alive.
constexpr std::int64_t session_lock(std::int64_t server) {
  return (std::int64_t{0x70697473} << 32) + server;
}  // "pits"

}  // namespace pits
