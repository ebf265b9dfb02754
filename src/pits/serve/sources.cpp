// Where a service keeps its bandits: directories, or the database of a fleet.
#include "pits/core/io/files.h"
#include "pits/log/first_id.h"
#include "pits/log/sqlite_store.h"
#include "pits/serve/bandits.h"

namespace pits {
namespace {

namespace fs = std::filesystem;

// Directories with a log, or with what is left of one.
std::vector<std::string> names_in(const fs::path& store) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(store)) {
    const auto has = [&](const char* file) { return fs::exists(entry.path() / file); };
    if (entry.is_directory() && (has("events.db") || has("snapshots.db"))) names.push_back(entry.path().filename());
  }
  return names;
}

// Whoever wants to wait for learning does so once for several calls (ServedBandit).
constexpr std::chrono::milliseconds patience{0};

class DirectorySource : public BanditSource {
 public:
  // The directory is made where it is not there.
  explicit DirectorySource(fs::path store) : store_(std::move(store)) { create_directories_durably(store_); }

  std::vector<std::string> names() override { return names_in(store_); }
  std::shared_ptr<ServedBandit> open(const std::string& name, const std::stop_token& stop) override {
    if (!fs::exists(store_ / name / "events.db"))
      throw bad_input("events.db is missing: restore it, or move the rest away");
    auto store = std::make_unique<SqliteStore>(store_ / name);
    if (store->last() == 0) return nullptr;
    auto live = std::make_shared<LiveBandit>(std::move(store), system_clock(),
                                             LedgerLimits{.stop = stop, .patience = patience});
    return std::make_shared<ServedBandit>(name, std::move(live), true);
  }
  bool create(const std::string& name, const LiveSetup& setup) override {
    SqliteStore store(store_ / name);
    if (store.last() != 0) return false;  // its commit was said to have failed, and has not
    // Callers may hold ids of another bandit that had this name.
    Ledger::create(store, system_clock(), created_by(setup), first_id(system_clock().utc()));
    return true;
  }
  TokenKeys tokens() override { return TokenKeys::load(store_ / "token-keys", system_clock().utc()); }

 private:
  fs::path store_;
};

class FleetSource : public BanditSource {
 public:
  explicit FleetSource(const FleetConfig& config) : fleet_(config) {}

  std::vector<std::string> names() override { return fleet_.names(); }
  std::shared_ptr<ServedBandit> open(const std::string& name, const std::stop_token&) override {
    return std::make_shared<ServedBandit>(name, fleet_.open(name), false);
  }
  bool create(const std::string& name, const LiveSetup& setup) override { return fleet_.create(name, setup); }
  TokenKeys tokens() override {
    std::optional<TokenKeys> keys;
    fleet_.secret("token-keys", [&](const std::string& old) {
      std::string text = old;
      keys = TokenKeys::renewed(text, "the token keys of the database", system_clock().utc());
      return text;
    });
    return *std::move(keys);
  }
  bool shared() const override { return true; }
  std::string problem() const override { return fleet_.problem(); }

 private:
  Fleet fleet_;
};

}  // namespace

std::unique_ptr<BanditSource> directory_source(const fs::path& store) {
  return std::make_unique<DirectorySource>(store);
}

std::unique_ptr<BanditSource> fleet_source(const FleetConfig& config) { return std::make_unique<FleetSource>(config); }

}  // namespace pits
