// What a service promises, on two servers that share a database. No policy is published here, so that a follower knows
// nothing of what another server has changed.
#include "fleet/servers.h"
#include "pits/core/io/files.h"
#include "pits/serve/service.h"
#include "serve/raw_client.h"

namespace pits::test {
namespace {

class ServedFleet : public WithDatabase {
 protected:
  static constexpr double never = 1e8;  // seconds: longer than any machine has been up

  std::unique_ptr<BanditSource> source(bool learns) const {
    return fleet_source({.url = url, .learns = learns, .lease = 1.0, .model_age = never});
  }
  static void open_shop(Bandits& bandits) {
    EXPECT_TRUE(comes_true([&] {
      bandits.open_all();
      return bandits.entries()["shop"].bandit != nullptr;
    }));
  }
  static nlohmann::json shop(double window) {
    return {{"agent", "lin-ts"}, {"context_size", 2U}, {"actions", {"tea", "milk"}}, {"window", window}};
  }
};

// A PUT of what a server takes for the settings, though they have changed.
TEST_F(ServedFleet, APutIsAppliedWhereverItComes) {
  const auto learns = source(true), follows = source(false);
  Bandits one(*learns);
  EXPECT_TRUE(one.put("shop", shop(600)));
  Bandits two(*follows);
  open_shop(two);
  one.put("shop", shop(30));
  EXPECT_EQ(one.find("shop")->config().window, 30.0);
  const double stale = two.find("shop")->config().window;
  ASSERT_NE(stale, 30.0);
  EXPECT_FALSE(two.put("shop", shop(stale)));
  EXPECT_EQ(one.find("shop")->config().window, stale);
}

TEST_F(ServedFleet, AddingAnActionAgainDoesNoHarmAtAnyServer) {
  const auto learns = source(true), follows = source(false);
  Bandits one(*learns);
  one.put("shop", shop(600));
  Bandits two(*follows);
  open_shop(two);
  one.find("shop")->change_actions({"soup"}, {});
  two.find("shop")->change_actions({"soup", "tea"}, {});
  EXPECT_EQ(one.find("shop")->decider().actions(), (std::vector<std::string>{"tea", "milk", "soup"}));
}

// A bandit without calls has nothing to learn; one whose events nobody learns makes the server "not ready".
TEST_F(ServedFleet, ReadinessFollowsTheAgeOfThePolicies) {
  Service service({.fleet = FleetConfig{.url = url, .learns = false}, .oldest_model = 0.5});
  HttpServer server(patient(), [&](const HttpRequest& r, Answerer a) { service.handle(r, std::move(a)); });
  RawClient client(server.address());
  const auto ask = [&](const std::string& request, const std::string& body = "") {
    return client.ask(
        fmt::format("{} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", request, body.size(), body));
  };
  ASSERT_EQ(ask("PUT /v1/bandits/shop", shop(600).dump()).status, 201);
  std::this_thread::sleep_for(std::chrono::milliseconds(2000));
  const Reply idle = ask("GET /readyz");
  EXPECT_EQ(idle.status, 200) << idle.body;
  Postgres(url).execute("UPDATE pits.bandit SET last = 2, holder = 0");  // written, and nobody learns it
  EXPECT_TRUE(comes_true([&] { return ask("GET /readyz").status == 503; }));
  EXPECT_NE(ask("GET /readyz").body.find("shop: its policy is"), std::string::npos);
}

// A server that could not read the keys for hours: the tokens of others wait for a moment, and only forged ones are
// refused.
TEST_F(ServedFleet, ATokensKeyIsReadAgainBeforeItIsRefused) {
  Service service({.fleet = FleetConfig{.url = url}});
  HttpServer server(patient(), [&](const HttpRequest& r, Answerer a) { service.handle(r, std::move(a)); });
  RawClient client(server.address());
  const auto ask = [&](const std::string& method, const std::string& path, const nlohmann::json& body) {
    return client.ask(fmt::format("{} /v1/bandits/shop{} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}",
                                  method, path, body.dump().size(), body.dump()));
  };
  nlohmann::json setup = shop(600);
  setup["seed"] = 42U;
  EXPECT_EQ(ask("PUT", "", setup).status, 201);
  const Scratch scratch;
  const auto with_key = [&](bool known) {  // a token of a new key
    const auto file = scratch / (known ? "known" : "forged");
    const Microseconds now = system_clock().utc();
    const std::string text = Postgres(url).run("SELECT value FROM pits.secret").text(0, 0);
    write_file_atomically(file, text);
    std::filesystem::permissions(file, std::filesystem::perms(0600));
    TokenKeys::rotate(file, now);
    if (known) Postgres(url).run("UPDATE pits.secret SET value = $1", read_file(file, 1 << 20));
    Restored record;
    record.id = 77;
    record.utc = now + 10 * TokenKeys::known_after;
    record.x = {1.0F, 2.0F};
    record.propensities = {0.5F, 0.5F};
    return nlohmann::json{{"token", TokenKeys::load(file, now).seal(record, "shop", 42)}, {"value", 1.0}};
  };
  const nlohmann::json reward = with_key(true);
  const Reply first = ask("POST", "/rewards", reward);
  EXPECT_EQ(first.status, 503) << first.body;
  EXPECT_TRUE(comes_true([&] { return ask("POST", "/rewards", reward).status == 200; }));
  EXPECT_EQ(ask("POST", "/rewards", with_key(false)).status, 400);
}

}  // namespace
}  // namespace pits::test
