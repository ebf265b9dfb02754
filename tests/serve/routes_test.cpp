#include "pits/serve/routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace pits {
namespace {

TEST(Routes, AreFoundByMethodAndPath) {
  EXPECT_EQ(match_route("POST", "/v1/bandits/shop/decide").route->id, RouteId::decide);
  EXPECT_EQ(match_route("POST", "/v1/bandits/shop/decide").name, "shop");
  EXPECT_EQ(match_route("PUT", "/v1/bandits/shop").route->id, RouteId::put);
  EXPECT_EQ(match_route("GET", "/v1/bandits").route->id, RouteId::bandits);
  EXPECT_EQ(match_route("HEAD", "/livez").route->id, RouteId::live);
  EXPECT_EQ(match_route("GET", "/").route->id, RouteId::page);
}

// docs/versions.md: within 1.x no route of this list goes away.
TEST(Routes, HaveAllThatVersionOneHas) {
  std::ifstream frozen(PITS_TEST_DIR "/stable/routes.txt");
  std::size_t count = 0;
  for (std::string method, path; frozen >> method >> path; ++count) {
    EXPECT_TRUE(std::ranges::any_of(routes(), [&](const Route& r) { return r.method == method && r.path == path; }))
        << method << " " << path;
  }
  EXPECT_EQ(count, 16U);
}

TEST(Routes, OthersAreNotFoundOrNotAllowed) {
  for (const char* path : {"", "/v1/bandits//decide", "/v1/bandits/a/b/decide", "/v1/bandits/shop/decide/", "/v2",
                           "/v1/bandits/", "//", "/V1/bandits"}) {
    const RouteMatch match = match_route("POST", path);
    EXPECT_EQ(match.route->id, RouteId::other) << path;
  }
  const RouteMatch match = match_route("GET", "/v1/bandits/shop/decide");
  EXPECT_EQ(match.route->id, RouteId::other);
  EXPECT_EQ(match.allow, "POST");
  EXPECT_EQ(match_route("DELETE", "/v1/bandits/shop").allow, "PUT");
}

TEST(OpenApi, NamesEveryRouteAndEverySchemaItRefersTo) {
  const auto document = nlohmann::json::parse(openapi_document());
  std::size_t operations = 0;
  for (const auto& [path, methods] : document.at("paths").items()) operations += methods.size();
  EXPECT_EQ(operations, routes().size() - 1);
  const std::string text = openapi_document();
  const std::string mark = "#/components/schemas/";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const std::size_t start = at + mark.size();
    const std::string name = text.substr(start, text.find('"', start) - start);
    EXPECT_TRUE(document.at("components").at("schemas").contains(name)) << name;
  }
}

}  // namespace
}  // namespace pits
