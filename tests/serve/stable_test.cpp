// docs/versions.md: within 1.x no field of a request or reply goes away, and none becomes required.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "pits/serve/routes.h"

namespace pits {
namespace {

// Lines of "Schema.field" or "Schema.field required".
TEST(OpenApi, HasAllFieldsThatVersionOneHas) {
  const auto document = nlohmann::json::parse(openapi_document());
  const auto& schemas = document.at("components").at("schemas");
  std::ifstream frozen(PITS_TEST_DIR "/stable/http-fields.txt");
  std::set<std::string> required;
  std::size_t count = 0;
  for (std::string line; std::getline(frozen, line); ++count) {
    const std::string field = line.substr(0, line.find(' '));
    if (field != line) required.insert(field);
    const std::size_t dot = field.find('.');
    const std::string schema = field.substr(0, dot), name = field.substr(dot + 1);
    ASSERT_TRUE(schemas.contains(schema)) << line;
    EXPECT_TRUE(schemas.at(schema).at("properties").contains(name)) << line;
  }
  EXPECT_GT(count, 50U);
  for (const auto& [schema, content] : schemas.items()) {
    for (const auto& name : content.value("required", nlohmann::json::array())) {
      const std::string field = schema + "." + name.get<std::string>();
      EXPECT_TRUE(required.contains(field)) << field << " has become required; a new one is added to the list";
    }
  }
}

}  // namespace
}  // namespace pits
