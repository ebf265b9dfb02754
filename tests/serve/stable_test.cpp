// docs/versions.md: within 1.x no field of a request or reply goes away, and none becomes required.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "pits/serve/routes.h"

namespace pits {
namespace {

using Json = nlohmann::json;

// Every field below a schema as "Schema.field" or "Schema.field.field", also in its variants and lists, and whether it
// is required.
void collect(const Json& schema, const std::string& path, std::map<std::string, bool>& into) {
  for (const char* variants : {"oneOf", "allOf", "anyOf"}) {
    const Json list = schema.value(variants, Json::array());
    for (const Json& variant : list) collect(variant, path, into);
  }
  if (schema.contains("items")) collect(schema.at("items"), path, into);
  const Json required = schema.value("required", Json::array()),
             properties = schema.value("properties", Json::object());
  for (const auto& [name, property] : properties.items()) {
    const std::string field = path + "." + name;
    into[field] = into[field] || std::ranges::find(required, Json(name)) != required.end();
    collect(property, field, into);
  }
}

// Lines of "Schema.field" or "Schema.field required".
TEST(OpenApi, HasAllFieldsThatVersionOneHas) {
  std::map<std::string, bool> now;
  const Json document = Json::parse(openapi_document());
  for (const auto& [name, schema] : document.at("components").at("schemas").items()) collect(schema, name, now);
  std::ifstream frozen(PITS_TEST_DIR "/stable/http-fields.txt");
  std::set<std::string> required;
  std::size_t count = 0;
  for (std::string line; std::getline(frozen, line); ++count) {
    const std::string field = line.substr(0, line.find(' '));
    if (field != line) required.insert(field);
    EXPECT_TRUE(now.contains(field)) << line;
  }
  EXPECT_GT(count, 80U);
  for (const char* of_a_list : {"Decide.decisions", "Decided.decisions", "Ranked.decisions", "Rewards.rewards",
                                "Answers.answers", "OneRanked.ranking", "OneRanked.ranking.probability"}) {
    EXPECT_TRUE(required.contains(of_a_list)) << of_a_list << " is not in the list";
  }
  for (const auto& [field, is_required] : now) {
    EXPECT_TRUE(!is_required || required.contains(field))
        << field << " has become required; a new one is added to the list";
  }
}

}  // namespace
}  // namespace pits
