// The bandits of a service: each has a log of its own, in STORE/NAME or in a database that a fleet shares. They are
// found from any thread without a lock.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "pits/fleet/fleet.h"
#include "pits/log/live_bandit.h"
#include "pits/serve/monitor.h"
#include "pits/serve/token.h"

namespace pits {

// Where statistics start, so that a service with a long log starts quickly: this many events before its end.
constexpr EventNumber monitored_events = 500'000;

class ServedBandit {
 public:
  // Statistics are kept from the start, or only while somebody asks for them: in a fleet they would be read again by
  // every server.
  ServedBandit(std::string name, std::shared_ptr<LiveCalls> live, bool monitored);

  const std::string& name() const { return name_; }
  LiveCalls& live() { return *live_; }
  const LiveCalls& live() const { return *live_; }
  const Decider& decider() const { return std::as_const(*live_).decider(); }
  nlohmann::json statistics();
  // The settings, without asking the log: also while its store fails.
  LiveConfig config() const;
  void change_config(const LiveConfig& config);
  // Returns when decisions know it, or after a while where the learner lags; in a fleet, when it is durable.
  void change_actions(const std::vector<std::string>& add, const std::vector<std::string>& retire);
  // The statistics follow the log, by at most so many events.
  void follow(std::size_t most_events);
  std::string monitor_problem() const;  // why they could not; empty: none

 private:
  void wait_until_learned() const;

  std::string name_;
  std::shared_ptr<LiveCalls> live_;
  bool monitored_;
  std::mutex monitoring_;  // of what follows
  std::optional<Monitor> monitor_;
  Microseconds asked_ = 0;    // steady: when statistics were asked for last
  mutable std::mutex mutex_;  // of what follows
  std::string monitor_problem_;
  LiveConfig config_;
};

// Where the bandits are kept.
class BanditSource {
 public:
  virtual ~BanditSource() = default;
  virtual std::vector<std::string> names() = 0;
  // None: there is no log, only what a crash has left of a creation.
  virtual std::shared_ptr<ServedBandit> open(const std::string& name, const std::stop_token& stop) = 0;
  virtual bool create(const std::string& name, const LiveSetup& setup) = 0;  // false: its log is there
  virtual TokenKeys tokens() = 0;                                            // a new one is made where it is time
  // Others change bandits too, and calls may wait for the network.
  virtual bool shared() const { return false; }
  virtual std::string problem() const { return {}; }  // of all bandits; empty: none
};
std::unique_ptr<BanditSource> directory_source(const std::filesystem::path& store);
std::unique_ptr<BanditSource> fleet_source(const FleetConfig& config);

class Bandits {
 public:
  struct Entry {
    std::shared_ptr<ServedBandit> bandit{};
    std::string problem{};  // why it cannot be opened; empty without a bandit: it is being recovered
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  // Finds the names; opens nothing.
  explicit Bandits(BanditSource& source);

  // From any thread. find() throws 404, or 503 where the bandit cannot be used now.
  std::shared_ptr<ServedBandit> find(std::string_view name) const;
  Entries entries() const;

  // From any thread, also beside each other; they take a while. Several bandits are opened at a time, so that one
  // that learns a long log again does not keep the others waiting. Stopped: those that are being opened are given up.
  void open_all(const std::stop_token& stop = {});
  // Creates the bandit, or changes the settings of the one that is there. Throws 409 where it differs in what cannot
  // change. True: created.
  bool put(const std::string& name, const nlohmann::json& body);

 private:
  void set(const std::string& name, std::optional<Entry> entry);  // none: it is not there
  Entry opened(const std::string& name, const std::stop_token& stop = {}) const;

  BanditSource& source_;
  std::mutex changing_;  // entries
  LeftRight<Entries> entries_;
};

// The body of a PUT. An Error names the field.
LiveSetup live_setup(const nlohmann::json& body);

}  // namespace pits
