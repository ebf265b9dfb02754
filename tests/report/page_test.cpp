#include "pits/report/page.h"

#include <gtest/gtest.h>

#include <limits>

#include "report/page_data.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Page, TemplateIsTheBuiltPageWithOneMarker) {
  EXPECT_TRUE(page_template().starts_with("<!doctype html>") || page_template().starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(count(page_template(), "__PITS_DATA__"), 1U);
}

TEST(Page, IsTheTemplateWithTheMarkerReplaced) {
  const Json data = {{"kind", "run"}, {"values", {1, 2.5}}};
  const std::string html = render_page(data);
  EXPECT_EQ(html.find("__PITS_DATA__"), std::string::npos);
  EXPECT_EQ(test::page_data(html), data);
  EXPECT_EQ(html.size(), page_template().size() - 13 + data.dump().size());
  EXPECT_EQ(html.substr(html.size() - 200), page_template().substr(page_template().size() - 200));
}

TEST(Page, NoLabelCanEndTheScriptElement) {
  const std::string label = "</script><script>alert(1)</script><!-- & \" \\";
  const Json data = {{"label", label}, {label, 1}};
  const std::string html = render_page(data);
  EXPECT_EQ(test::page_data_text(html).find('<'), std::string::npos);
  EXPECT_EQ(count(html, "</script>"), count(page_template(), "</script>"));
  EXPECT_EQ(test::page_data(html), data);
}

TEST(Page, ALabelThatLooksLikeTheMarkerStays) {
  const Json data = {{"label", "__PITS_DATA__"}};
  EXPECT_EQ(test::page_data(render_page(data)), data);
}

TEST(Page, NumbersThatAreNotFiniteBecomeNull) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Json data = {{"values", {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 1.0}}};
  EXPECT_EQ(test::page_data_text(render_page(data)), R"({"values":[null,null,null,1.0]})");
}

TEST(Page, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(test::page_data(render_page({{"command", "a\xff"}}))["command"], "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace pits
