// What takes long, or waits for a disk, keeps nobody waiting who does not need it; replies keep their order.
#include <set>

#include "serve/stalling.h"

namespace pits::test {
namespace {

class BackgroundWork : public testing::Test {
 protected:
  BackgroundWork() {
    const nlohmann::json setup{{"agent", "uniform"}, {"context_size", 0}, {"actions", {"a", "b", "c", "d"}}};
    EXPECT_EQ(shop_.ask("PUT", "", setup).status, 201);
  }
  int get(const std::string& path) { return RawClient(shop_.server.address()).ask(request("GET", path, {})).status; }
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

nlohmann::json decisions(std::size_t n, const nlohmann::json& one) { return {{"decisions", nlohmann::json(n, one)}}; }

TEST_F(BackgroundWork, LargeBatchesAreAnsweredInTheOrderOfTheRequests) {
  const std::string path = "/v1/bandits/shop";
  const nlohmann::json one = nlohmann::json::object(), wrong{{"allowed", {"z"}}};
  RawClient all = client();
  all.send(request("POST", path + "/decide", decisions(500, one)) + request("POST", path + "/decide", one) +
           request("POST", path + "/decide", decisions(65, wrong)) +
           request("POST", path + "/rank", decisions(65, one)) + test::get("/livez"));
  std::set<std::uint64_t> ids;
  const nlohmann::json first = json(all.reply());
  for (const nlohmann::json& made : first.at("decisions")) {
    ids.insert(made.at("id").get<std::uint64_t>());
    EXPECT_EQ(made.at("propensity"), 0.25);
  }
  EXPECT_EQ(ids.size(), 500U);
  EXPECT_TRUE(json(all.reply()).contains("token"));
  EXPECT_EQ(all.reply().status, 400);
  const nlohmann::json ranked = json(all.reply()).at("decisions");
  EXPECT_EQ(ranked.size(), 65U);
  EXPECT_EQ(ranked.back().at("ranking").size(), 4U);
  EXPECT_EQ(all.reply().body, "alive\n");
}

// Each of these decisions is simulated a thousand times for its probabilities.
TEST(LargeBatch, KeepsNoSmallRequestWaiting) {
  StallingSource source;
  ServedShop shop(source);
  const nlohmann::json setup{{"agent", "dropout,initial_pulls=0"},
                             {"context_size", 2},
                             {"actions", {"a", "b", "c"}},
                             {"propensity_draws", 1000}};
  ASSERT_EQ(shop.ask("PUT", "", setup).status, 201);
  RawClient large(shop.server.address());
  large.send(request("POST", "/v1/bandits/shop/decide", decisions(1000, {{"context", {0.5, 1.0}}})));
  wait_until([&] { return shop.server.counters().requests == 2; });
  EXPECT_EQ(RawClient(shop.server.address()).ask(get("/livez")).status, 200);
  EXPECT_EQ(shop.server.counters().waiting, 1U);  // the batch
  EXPECT_EQ(json(large.reply()).at("decisions").size(), 1000U);
}

// The supervisor ends a process whose loops stand still for 5 seconds.
TEST(Alive, ManySlowRequestsInOneTurnAreNoStandstill) {
  std::atomic<int> answered = 0;
  HttpServer server(patient(), [&](const HttpRequest&, Answerer answerer) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    answerer({.body = "late"});
    ++answered;
  });
  constexpr int n = 20;
  std::string all;
  for (int i = 0; i < n; ++i) all += get("/slow");
  RawClient client(server.address());
  client.send(all);
  while (answered < n) {
    EXPECT_TRUE(server.alive()) << answered;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  for (int i = 0; i < n; ++i) EXPECT_EQ(client.reply().body, "late");
}

}  // namespace
}  // namespace pits::test
