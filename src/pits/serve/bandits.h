// The bandits of a service: each has a log of its own in STORE/NAME. They are found from any thread without a lock.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "pits/log/live_bandit.h"
#include "pits/serve/monitor.h"

namespace pits {

// Where statistics start, so that a service with a long log starts quickly: this many events before its end.
constexpr EventNumber monitored_events = 500'000;

class ServedBandit {
 public:
  ServedBandit(std::string name, std::unique_ptr<Store> store);

  const std::string& name() const { return name_; }
  LiveBandit& live() { return live_; }
  const LiveBandit& live() const { return live_; }
  Monitor& monitor() { return monitor_; }
  // The settings, without asking the log: also while its store fails.
  LiveConfig config() const;
  void change_config(const LiveConfig& config);
  void change_actions(const std::vector<std::string>& add, const std::vector<std::string>& retire);
  // The statistics follow the log, by at most so many events.
  void follow(std::size_t most_events);
  std::string monitor_problem() const;  // why they could not; empty: none

 private:
  std::string name_;
  LiveBandit live_;
  mutable std::mutex mutex_;  // of what follows
  std::string monitor_problem_;
  LiveConfig config_;
  Monitor monitor_;
};

class Bandits {
 public:
  struct Entry {
    std::shared_ptr<ServedBandit> bandit{};
    std::string problem{};  // why it cannot be opened; empty without a bandit: it is being recovered
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  // Finds the names; opens nothing. The directory is made where it is not there.
  explicit Bandits(std::filesystem::path store);

  // From any thread. find() throws 404, or 503 where the bandit cannot be used now.
  std::shared_ptr<ServedBandit> find(std::string_view name) const;
  Entries entries() const;

  // From any thread, also beside each other; they take a while.
  void open_all();
  // Creates the bandit, or changes the settings of the one that is there. Throws 409 where it differs in what cannot
  // change. True: created.
  bool put(const std::string& name, const nlohmann::json& body);

 private:
  void set(const std::string& name, std::optional<Entry> entry);  // none: it is not there
  Entry opened(const std::string& name) const;
  bool create(const std::string& name, const LiveSetup& setup);

  std::filesystem::path store_;
  std::mutex changing_;  // entries
  LeftRight<Entries> entries_;
};

// The body of a PUT. An Error names the field.
LiveSetup live_setup(const nlohmann::json& body);

}  // namespace pits
