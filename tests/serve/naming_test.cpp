// Rewards, cancels and activates that name their decision in more than one way.
#include "serve/stalling.h"

namespace pits::test {
namespace {

class Naming : public testing::Test {
 protected:
  Naming() {
    const nlohmann::json setup{
        {"agent", "uniform"}, {"context_size", 0}, {"actions", {"a", "b"}}, {"activation", true}, {"window", 600}};
    EXPECT_EQ(shop_.ask("PUT", "", setup).status, 201);
  }
  std::string answer(const std::string& verb, nlohmann::json body) {
    if (verb == "/rewards") body["value"] = 1.0;
    const Reply reply = shop_.ask("POST", verb, body);
    return reply.status == 400 ? "refused" : json(reply).at("answer").get<std::string>();
  }

  StallingSource source_;
  ServedShop shop_{source_};
};

// A key may be forgotten (retention, erasing) before its decision, which has its id all the same.
TEST_F(Naming, AnIdBesideAnUnknownKeyNamesTheDecision) {
  for (const char* verb : {"/activate", "/rewards", "/cancel"}) {
    const nlohmann::json decided = json(shop_.ask("POST", "/decide", nlohmann::json::object()));
    EXPECT_EQ(answer(verb, {{"id", decided["id"]}, {"decision", "nobody's"}}), "accepted") << verb;
  }
}

TEST_F(Naming, ATokenBesideAnUnknownKeyNamesTheDecision) {
  const nlohmann::json decided = json(shop_.ask("POST", "/decide", nlohmann::json::object()));
  EXPECT_EQ(answer("/rewards", {{"token", decided["token"]}, {"decision", "nobody's"}}), "accepted");
}

TEST_F(Naming, AnUnknownKeyAloneNamesNothing) {
  EXPECT_EQ(answer("/rewards", {{"decision", "nobody's"}}), "unknown");
  EXPECT_EQ(answer("/cancel", {{"decision", "nobody's"}}), "unknown");
}

TEST_F(Naming, TwoNamesOfDifferentDecisionsAreRefused) {
  const nlohmann::json one = json(shop_.ask("POST", "/decide", {{"key", "one"}}));
  const nlohmann::json two = json(shop_.ask("POST", "/decide", nlohmann::json::object()));
  EXPECT_EQ(answer("/rewards", {{"id", two["id"]}, {"decision", "one"}}), "refused");
  EXPECT_EQ(answer("/rewards", {{"token", two["token"]}, {"decision", "one"}}), "refused");
  EXPECT_EQ(answer("/rewards", {{"id", one["id"]}, {"decision", "one"}}), "accepted");
}

}  // namespace
}  // namespace pits::test
