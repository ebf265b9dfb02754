// The data of a page, taken out of its HTML as the page's own code does.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace pits::test {

inline std::string page_data_text(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"pits-data\">";
  const std::size_t at = html.find(open);
  EXPECT_NE(at, std::string::npos) << "the page has no data";
  const std::size_t start = at + open.size();
  return html.substr(start, html.find("</script>", start) - start);
}

inline nlohmann::ordered_json page_data(const std::string& html) {
  return nlohmann::ordered_json::parse(page_data_text(html));
}

inline void expect_keys(const nlohmann::ordered_json& object, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) EXPECT_TRUE(object.contains(key)) << key << " is missing in " << object.dump();
}

}  // namespace pits::test
