// Keys that are read again while the service runs.
#include <fstream>
#include <nlohmann/json.hpp>

#include "experiment/scratch.h"
#include "pits/serve/service.h"
#include "serve/raw_client.h"

namespace pits::test {
namespace {

// Whoever reads them first must not publish them last.
TEST(Reload, KeepsTheNewestKeysHoweverManyReadThem) {
  const Scratch scratch;
  const auto store = scratch / "store";
  Service service({.store = store});
  HttpServer server(patient(), [&](const HttpRequest& r, Answerer a) { service.handle(r, std::move(a)); });
  std::atomic<bool> done = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back([&] {
      while (!done) {
        service.reload();
        std::this_thread::yield();  // the lock is for others too
      }
    });
  }
  RawClient client(server.address());
  const auto ask = [&](const std::string& method, const std::string& path, const nlohmann::json& body) {
    const std::string text = body.dump();
    return client.ask(fmt::format("{} /v1/bandits/shop{} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}",
                                  method, path, text.size(), text));
  };
  const nlohmann::json setup{{"agent", "uniform"}, {"context_size", 0}, {"actions", {"a", "b"}}, {"seed", 42}};
  EXPECT_EQ(ask("PUT", "", setup).status, 201);
  Restored record;
  record.id = 77;
  record.utc = 4'000'000'000'000'000;  // when every key seals: the newest does
  for (int i = 0; i < 400; ++i) {
    TokenKeys::rotate(store / "token-keys", system_clock().utc());
    service.reload();
    const std::string token = TokenKeys::load(store / "token-keys", system_clock().utc()).seal(record, "shop", 42);
    const Reply reply = ask("POST", "/rewards", {{"token", token}, {"value", 1.0}});
    EXPECT_EQ(reply.body.find("gone"), std::string::npos) << i;
  }
  done = true;
  for (std::thread& other : others) other.join();
}

}  // namespace
}  // namespace pits::test
