#include "pits/core/beginning.h"

#include <gtest/gtest.h>

namespace pits {
namespace {

TEST(Beginning, EndsBetweenLetters) {
  EXPECT_EQ(beginning("tea"), "tea");
  EXPECT_EQ(beginning("", 0), "");
  EXPECT_EQ(beginning("abcdef", 3), "abc");
  EXPECT_EQ(beginning("a\u00e4\u00e4", 2), "a");  // two bytes each
  EXPECT_EQ(beginning("a\u00e4\u00e4", 3), "a\u00e4");
  EXPECT_EQ(beginning("\U0001F375", 3), "");    // four bytes
  EXPECT_EQ(beginning("\x80\x80\x80", 2), "");  // no letter at all
}

}  // namespace
}  // namespace pits
