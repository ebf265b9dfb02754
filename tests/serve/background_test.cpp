// What takes long, or waits for a disk, keeps nobody waiting who does not need it; replies keep their order.
#include "serve/stalling.h"

namespace pits::test {
namespace {

class BackgroundWork : public testing::Test {
 protected:
  BackgroundWork() {
    const nlohmann::json setup{{"agent", "uniform"}, {"context_size", 0}, {"actions", {"a", "b", "c", "d"}}};
    EXPECT_EQ(shop_.ask("PUT", "", setup).status, 201);
  }
  int get(const std::string& path) {
    return RawClient(shop_.server.address()).ask(request("GET", path, {})).status;
  }
  RawClient client() { return RawClient(shop_.server.address()); }

  StallingSource source_;
  ServedShop shop_{source_};
};

TEST_F(BackgroundWork, ADiskThatDoesNotFindAKeyStopsNoOtherRequest) {
  RawClient waits = client();
  source_.stalls.keys.begin();
  waits.send(request("POST", "/v1/bandits/shop/rewards", {{"decision", "visit"}, {"value", 1.0}}) +
             request("POST", "/v1/bandits/shop/cancel", {{"decision", "visit"}}) + test::get("/livez"));
  wait_until([&] { return source_.stalls.keys.waiting() > 0; });
  for (const char* path : {"/livez", "/readyz", "/metrics", "/v1/bandits/shop/state", "/v1/bandits/shop/statistics"}) {
    EXPECT_EQ(get(path), 200) << path;
  }
  const nlohmann::json decided = json(shop_.ask("POST", "/decide", nlohmann::json::object()));
  EXPECT_EQ(shop_.ask("POST", "/rewards", {{"id", decided["id"]}, {"value", 1.0}}).status, 200);
  source_.stalls.keys.end();
  EXPECT_EQ(waits.reply().status, 404);  // unknown
  EXPECT_EQ(waits.reply().status, 404);
  EXPECT_EQ(waits.reply().body, "alive\n");
}

TEST_F(BackgroundWork, AChangeThatWaitsForTheDiskStopsNoReport) {
  RawClient waits = client();
  source_.stalls.commits.begin();
  waits.send(request("POST", "/v1/bandits/shop/actions", {{"add", {"e"}}}));
  wait_until([&] { return source_.stalls.commits.waiting() > 0; });
  for (const char* path : {"/livez", "/readyz", "/metrics", "/v1/bandits/shop/state", "/v1/bandits/shop/statistics"}) {
    EXPECT_EQ(get(path), 200) << path;
  }
  source_.stalls.commits.end();
  EXPECT_EQ(waits.reply().status, 200);
}

TEST_F(BackgroundWork, ChangedActionsAreKnownWhenTheyAreAnswered) {
  const nlohmann::json state = json(shop_.ask("POST", "/actions", {{"add", {"e"}}, {"retire", {"a", "b", "c"}}}));
  std::string left;
  for (const nlohmann::json& action : state.at("actions")) {
    if (!action.at("retired")) left += action.at("name").get<std::string>();
  }
  EXPECT_EQ(left, "de");
}

// It answers all the same, once for all of them.
TEST_F(BackgroundWork, ALearnerThatLagsIsWaitedForOnce) {
  wait_until([&] { return json(shop_.ask("GET", "/state"))["events"]["learned"] > 0; });
  source_.stalls.groups.begin();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(shop_.ask("POST", "/actions", {{"add", {"e"}}, {"retire", {"a", "b", "c"}}}).status, 200);
  const auto took = std::chrono::steady_clock::now() - start;
  source_.stalls.groups.end();
  EXPECT_LT(took, std::chrono::seconds(6));  // 2 of them; one after the other they would be 8
  wait_until([&] { return json(shop_.ask("GET", "/state"))["actions"].size() == 5; });
}

}  // namespace
}  // namespace pits::test
