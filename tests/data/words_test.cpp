#include "pits/data/read/words.h"

#include <gtest/gtest.h>

#include "data/rows_of.h"
#include "experiment/expect_error.h"

namespace pits::test {
namespace {

std::vector<TextRow> rows_of(std::string_view text, std::size_t skip = 0, std::size_t piece = 1 << 20) {
  std::vector<TextRow> rows;
  WordReader reader("f.txt", skip, into(rows));
  feed_in_pieces(reader, text, piece);
  reader.finish();
  return rows;
}

TEST(Words, AreWhatStandsBetweenBlanks) {
  const std::string text = "A,B\n  1 -2.5\t3 \r\n\n4 5  6";
  const std::vector<TextRow> expected = {{{"1", "-2.5", "3"}, 2}, {{"4", "5", "6"}, 4}};
  EXPECT_EQ(rows_of(text, 1), expected);
  for (std::size_t piece = 1; piece < text.size(); ++piece) EXPECT_EQ(rows_of(text, 1, piece), expected) << piece;
  EXPECT_TRUE(rows_of("").empty());
  EXPECT_TRUE(rows_of(" \n\t\n").empty());
}

TEST(Words, RaggedRowsAreRefusedWithTheirLine) {
  expect_mentions(message_of([] { rows_of("1 2\n\n3\n"); }), {"'f.txt', line 3", "1 numbers, not 2"});
}

}  // namespace
}  // namespace pits::test
