// Requests of one turn: what a handler puts off is answered at the turn's end, and decisions that the service makes
// together are those that it makes one by one.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "experiment/scratch.h"
#include "pits/serve/service.h"
#include "serve/raw_client.h"

namespace pits::test {
namespace {

TEST(Turn, WhatIsPutOffIsAnsweredAtItsEnd) {
  for (const int threads : {1, 2}) {
    const auto put_off = []() -> std::vector<std::pair<Answerer, std::string>>& {
      thread_local std::vector<std::pair<Answerer, std::string>> all;
      return all;
    };
    HttpServer server(
        patient({.threads = threads, .most_pipelined = 3}),
        [&](const HttpRequest& request, Answerer answerer) {
          EXPECT_TRUE(request.may_wait);
          if (request.path == "/now") return answerer({.body = "now"});
          put_off().emplace_back(std::move(answerer), request.path);
        },
        [&] {
          auto all = std::exchange(put_off(), {});
          for (auto& [answerer, path] : all) answerer({.body = path});
          return !all.empty();
        });
    RawClient client(server.address()), other(server.address());
    std::string many;
    for (int i = 0; i < 20; ++i) many += get("/later/" + std::to_string(i)) + get("/now");
    client.send(many);
    EXPECT_EQ(other.ask(get("/other")).body, "/other");
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(client.reply().body, "/later/" + std::to_string(i));
      EXPECT_EQ(client.reply().body, "now");
    }
    wait_until([&] { return server.counters().waiting == 0; });
    client.close();
    other.close();
    wait_until([&] { return server.counters().open == 0 && server.counters().buffered == 0; });
  }
}

TEST(Turn, OneThatFailsIsNotTheEnd) {
  HttpServer server(
      patient(), [](const HttpRequest& request, Answerer answerer) { answerer({.body = std::string(request.path)}); },
      []() -> bool { throw std::bad_alloc(); });
  EXPECT_EQ(RawClient(server.address()).ask(get("/x")).body, "/x");
  EXPECT_EQ(RawClient(server.address()).ask(get("/y")).body, "/y");
}

// A service with one bandit that has learned a little and does not train.
class Served {
 public:
  explicit Served(bool together)
      : server_(
            patient(), [this](const HttpRequest& r, Answerer a) { service_.handle(r, std::move(a)); },
            together ? std::function<bool()>([this] { return service_.end_turn(); }) : std::function<bool()>()) {
    RawClient client = this->client();
    const nlohmann::json setup{{"agent", "pi-ts"},
                               {"training", "in-line"},  // beside the rewards, what is learned depends on threads
                               {"context_size", 2},
                               {"actions", {"a", "b", "c"}},
                               {"seed", 5},
                               {"rewards", "first"},
                               {"window", 100}};
    EXPECT_EQ(client.ask(request("PUT", "", setup)).status, 201);
    for (int i = 0; i < 12; ++i) {
      const std::string action(1, static_cast<char>('a' + i % 3));
      const nlohmann::json asked{{"context", {0.1 * i, 1.0}}, {"allowed", {action}}};
      const nlohmann::json decided = json(client.ask(request("POST", "/decide", asked)));
      const nlohmann::json reward{{"id", decided["id"]}, {"value", i % 5 < 2 ? 1.0 : 0.0}};
      EXPECT_EQ(client.ask(request("POST", "/rewards", reward)).status, 200);
      wait_until([&] {
        const nlohmann::json events = json(client.ask(request("GET", "/state", {})))["events"];
        return events["learned"] == events["committed"];
      });
    }
  }
  RawClient client() { return RawClient(server_.address()); }

  static nlohmann::json json(const Reply& reply) { return nlohmann::json::parse(reply.body); }
  static std::string request(const std::string& method, const std::string& path, const nlohmann::json& body) {
    const std::string text = body.is_null() ? "" : body.dump();
    return method + " /v1/bandits/shop" + path +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
  }
  static std::string rank(const std::vector<double>& x) { return request("POST", "/rank", {{"context", x}}); }

 private:
  Scratch scratch_;
  Service service_{{.store = scratch_ / "store"}};
  HttpServer server_;
};

// Ids differ from service to service, and with them the draws; the probabilities of all actions do not. The fourth
// context is too short; with a key a decision is durable first.
TEST(Turn, DecisionsAreTheSame) {
  std::string all;
  const int n = 11;
  for (int i = 0; i < n; ++i) {
    if (i == 3) {
      all += Served::rank({1.0});
    } else if (i == 6) {
      all += Served::request("POST", "/rank", {{"context", {0.5, 0.5}}, {"key", "k"}});
    } else {
      all += Served::rank({0.3 * i - 1.0, 0.1 * i});
    }
  }
  std::array<std::vector<std::map<std::string, double>>, 2> found;
  for (const bool together : {false, true}) {
    Served served(together);
    RawClient client = served.client();
    client.send(all);
    for (int i = 0; i < n; ++i) {
      const Reply reply = client.reply();
      EXPECT_EQ(reply.status, i == 3 ? 400 : 200);
      std::map<std::string, double>& probabilities = found[together ? 1 : 0].emplace_back();
      const nlohmann::json ranking = Served::json(reply).value("ranking", nlohmann::json::array());
      for (const nlohmann::json& one : ranking) probabilities[one["action"]] = one["probability"];
      EXPECT_EQ(probabilities.size(), i == 3 ? 0U : 3U);
    }
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_GT(std::set(found[0].begin(), found[0].end()).size(), 3U);  // they depend on the context
}

// Those of a large batch are made by another thread.
TEST(Turn, DecisionsOfALargeBatchAreTheSame) {
  Served served(true);
  RawClient client = served.client();
  nlohmann::json batch = nlohmann::json::array();
  std::vector<std::map<std::string, double>> expected, found;
  const auto probabilities = [](const nlohmann::json& made) {
    std::map<std::string, double> of;
    for (const nlohmann::json& one : made.at("ranking")) of[one["action"]] = one["probability"];
    return of;
  };
  for (int i = 0; i < 70; ++i) {
    const std::vector<double> x{0.05 * i - 1.0, 0.02 * i};
    expected.push_back(probabilities(Served::json(client.ask(Served::rank(x)))));
    batch.push_back({{"context", x}});
  }
  const nlohmann::json all = Served::json(client.ask(Served::request("POST", "/rank", {{"decisions", batch}})));
  for (const nlohmann::json& made : all.at("decisions")) found.push_back(probabilities(made));
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace pits::test
