// A service on stores in memory whose disk can hang: what looks for a
// decision's key, commits or learns waits until it goes on.
#pragma once

#include <nlohmann/json.hpp>

#include "log/memory_store.h"
#include "pits/serve/service.h"
#include "serve/raw_client.h"

namespace pits::test {

// What waits, and how many do.
class Stall {
 public:
  void begin() { stalled_ = true; }
  void end() {
    stalled_ = false;
    stalled_.notify_all();
  }
  void pass() {
    ++waiting_;
    stalled_.wait(true);
    --waiting_;
  }
  int waiting() const { return waiting_; }

 private:
  std::atomic<bool> stalled_ = false;
  std::atomic<int> waiting_ = 0;
};

struct Stalls {
  Stall keys{}, commits{}, groups{};
};

class StallingStore : public MemoryStore {
 public:
  explicit StallingStore(Stalls& stalls) : stalls_(stalls) {}
  void commit(const Commit& commit) override {
    stalls_.commits.pass();
    MemoryStore::commit(commit);
  }
  std::optional<GroupReader> group(EventNumber number) const override {
    stalls_.groups.pass();
    return MemoryStore::group(number);
  }
  std::optional<DecisionId> decision_of(std::string_view key) const override {
    stalls_.keys.pass();
    return MemoryStore::decision_of(key);
  }

 private:
  Stalls& stalls_;
};

class StallingSource {
 public:
  std::unique_ptr<BanditSource> source() { return std::make_unique<Source>(*this); }
  Stalls stalls{};

 private:
  struct Source : BanditSource {
    explicit Source(StallingSource& to) : of(to) {}
    std::vector<std::string> names() override { return {}; }
    std::shared_ptr<ServedBandit> open(const std::string& name, const std::stop_token&) override {
      const LedgerLimits limits{.patience = std::chrono::milliseconds(0)};
      auto live = std::make_shared<LiveBandit>(std::move(made), system_clock(), limits);
      return std::make_shared<ServedBandit>(name, std::move(live), true);
    }
    bool create(const std::string&, const LiveSetup& setup) override {
      made = std::make_unique<StallingStore>(of.stalls);
      LiveBandit::create(*made, setup);
      return true;
    }
    TokenKeys tokens() override {
      return TokenKeys::parse(
          "pits token keys 1\n7 1000000 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n", "fixed");
    }
    StallingSource& of;
    std::unique_ptr<Store> made{};
  };
};

inline nlohmann::json json(const Reply& reply) { return nlohmann::json::parse(reply.body); }

inline std::string request(const std::string& method, const std::string& path, const nlohmann::json& body) {
  const std::string text = body.is_null() ? "" : body.dump();
  return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(text.size()) +
         "\r\n\r\n" + text;
}

// A service with room for the bandit "shop".
class ServedShop {
 public:
  explicit ServedShop(StallingSource& source, const ServiceConfig& config = {}) : service(config, source.source()) {
    wait_until([&] { return service.recovered(); });
    service.watch(server);
  }
  ~ServedShop() { service.stop_watching(); }
  ServedShop(const ServedShop&) = delete;
  ServedShop& operator=(const ServedShop&) = delete;

  Reply ask(const std::string& method, const std::string& verb, const nlohmann::json& body = {}) {
    return RawClient(server.address()).ask(request(method, "/v1/bandits/shop" + verb, body));
  }

  Service service;
  HttpServer server{patient(), [this](const HttpRequest& r, Answerer a) { service.handle(r, std::move(a)); }};
};

}  // namespace pits::test
