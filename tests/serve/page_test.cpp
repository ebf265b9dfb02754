#include "pits/serve/page.h"

#include <gtest/gtest.h>

namespace pits {
namespace {

TEST(ServicePage, IsWholeAndMayAskItsOwnServiceOnly) {
  const std::string_view page = service_page();
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find("</html>"), std::string_view::npos);
  EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"), std::string_view::npos);
  EXPECT_LT(page.size(), 200'000U);
}

}  // namespace
}  // namespace pits
