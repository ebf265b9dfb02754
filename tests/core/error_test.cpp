#include "pits/core/error.h"

#include <gtest/gtest.h>

namespace pits {
namespace {

TEST(Error, KindsMapToTheDocumentedExitCodes) {
  EXPECT_EQ(failed("x").exit_code(), 1);
  EXPECT_EQ(bad_usage("x").exit_code(), 2);
  EXPECT_EQ(bad_input("x").exit_code(), 3);
}

TEST(Error, UnknownNameSuggestsTheNearest) {
  const std::string message = unknown_name("agent", "lin-t", {"pi-ts", "lin-ts", "uniform"}).what();
  EXPECT_NE(message.find("did you mean 'lin-ts'"), std::string::npos) << message;
  EXPECT_NE(message.find("pi-ts, lin-ts, uniform"), std::string::npos) << message;
}

TEST(Error, UnknownNameDoesNotSuggestWhatIsFar) {
  const std::string message = unknown_name("agent", "zebra-crossing", {"pi-ts", "lin-ts"}).what();
  EXPECT_EQ(message.find("did you mean"), std::string::npos) << message;
}

TEST(Error, UnknownNameOfOneLetterSuggestsNothing) {
  for (const char* name : {"x", ""}) {
    const std::string message = unknown_name("column", name, {"y", "ab"}).what();
    EXPECT_EQ(message.find("did you mean"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace pits
