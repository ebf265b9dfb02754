#include "pits/data/read/csv.h"

#include <gtest/gtest.h>

#include "data/rows_of.h"
#include "experiment/expect_error.h"

namespace pits::test {
namespace {

using Rows = std::vector<TextRow>;

Rows rows_of(std::string_view text, CsvFormat format = {}, std::size_t piece = 1 << 20) {
  Rows rows;
  CsvReader reader("f.csv", format, into(rows));
  feed_in_pieces(reader, text, piece);
  reader.finish();
  return rows;
}

std::string error_of(std::string_view text, CsvFormat format = {}) {
  return message_of([&] { rows_of(text, format); });
}

TEST(Csv, SplitsLinesIntoFieldsWithoutTheBlanksAroundThem) {
  EXPECT_EQ(rows_of("a,b\n1, 2 \n"), (Rows{{{"a", "b"}, 1}, {{"1", "2"}, 2}}));
  EXPECT_EQ(rows_of("a,b\n1,2"), (Rows{{{"a", "b"}, 1}, {{"1", "2"}, 2}})) << "without a newline at the end";
}

TEST(Csv, QuotesHoldDelimitersQuotesNewlinesAndBlanks) {
  EXPECT_EQ(rows_of("\"a,b\",\"say \"\"no\"\"\"\n\" x \",\"two\nlines\"\nc,d\n"),
            (Rows{{{"a,b", "say \"no\""}, 1}, {{" x ", "two\nlines"}, 2}, {{"c", "d"}, 4}}));
}

TEST(Csv, EndsOfLinesMayBeOfEitherKind) {
  EXPECT_EQ(rows_of("a,b\r\nc,d\r\n"), (Rows{{{"a", "b"}, 1}, {{"c", "d"}, 2}}));
  EXPECT_EQ(rows_of("a,\"b\"\r\nc,d\n"), (Rows{{{"a", "b"}, 1}, {{"c", "d"}, 2}}));
}

TEST(Csv, EmptyFieldsStayAndEmptyLinesDoNot) {
  EXPECT_EQ(rows_of("a,,\n\n\r\n,,c\n\"\",x,\n"), (Rows{{{"a", "", ""}, 1}, {{"", "", "c"}, 4}, {{"", "x", ""}, 5}}));
  EXPECT_EQ(rows_of(""), Rows{});
  EXPECT_EQ(rows_of("\n\n"), Rows{});
}

TEST(Csv, AByteOrderMarkIsNoPartOfTheFirstField) {
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                    "a,b\n"),
            (Rows{{{"a", "b"}, 1}}));
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                    "\"a\",b\n"),
            (Rows{{{"a", "b"}, 1}}));
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"), Rows{});
  EXPECT_EQ(rows_of("\xEF\n"), (Rows{{{"\xEF"}, 1}})) << "only the whole mark is one";
}

TEST(Csv, OtherDelimitersAndSkippedLines) {
  EXPECT_EQ(rows_of("1;2,5\n", {.delimiter = ';'}), (Rows{{{"1", "2,5"}, 1}}));
  EXPECT_EQ(rows_of("1\t\t x\n", {.delimiter = '\t'}), (Rows{{{"1", "", "x"}, 1}}));
  EXPECT_EQ(rows_of("|no, row, \"\n1,2\n", {.skip_lines = 1}), (Rows{{{"1", "2"}, 2}}));
}

TEST(Csv, PiecesOfAnySizeGiveTheSameRows) {
  const std::string text =
      "\xEF\xBB\xBF"
      "a,\"b\"\"\n,\"\r\n\r\n 1 ,2\n,\"x\"\n3,4";
  const Rows whole = rows_of(text);
  EXPECT_EQ(whole, (Rows{{{"a", "b\"\n,"}, 1}, {{"1", "2"}, 4}, {{"", "x"}, 5}, {{"3", "4"}, 6}}));
  for (std::size_t piece = 1; piece < text.size(); ++piece) EXPECT_EQ(rows_of(text, {}, piece), whole) << piece;
}

TEST(Csv, RaggedRowsAreRefusedWithTheirLine) {
  expect_mentions(error_of("a,b\n1,2\n\n1,2,3\n"), {"'f.csv', line 4", "3 fields, but 2 in line 1"});
  expect_mentions(error_of("a,b\n\"1\n\"\n"), {"'f.csv', line 2", "1 fields"});
}

TEST(Csv, MalformedQuotesAreRefusedWithTheirLine) {
  expect_mentions(error_of("a,b\n1,x\"y\"\n"), {"'f.csv', line 2", "quote"});
  expect_mentions(error_of("a,b\n\"1\"2,3\n"), {"'f.csv', line 2", "quote"});
  expect_mentions(error_of("a,b\n1,2\n3,\"4\n5,6\n"), {"'f.csv', line 3", "quote without its end"});
}

TEST(Csv, WhatTheSinkThrowsComesThrough) {
  CsvReader reader("f.csv", {}, [](auto, const Place& place) { throw place.wrong("no {}", "good"); });
  EXPECT_EQ(message_of([&] { reader.feed("a,b\nc,d\n"); }), "'f.csv', line 1: no good");
}

TEST(Number, IsTheWholeFieldAndFinite) {
  const Place place{"f", 3};
  EXPECT_EQ(parse_number("-1.5e2", 0, place), -150.0);
  EXPECT_EQ(parse_number("3.142899999999992922e-02", 0, place), 0.03142899999999993);
  EXPECT_EQ(parse_number("+1.5", 0, place), 1.5);
  for (const char* bad :
       {"", "x", "1x", "1 2", " 1", "nan", "inf", "-inf", "1e39", "1e999", "0x1p3", "1,5", "+", "++1", "+-1", "-+1"}) {
    const std::string message = message_of([&] { parse_number(bad, 4, place); });
    expect_mentions(message, {"'f', line 3", "column 5", std::string("'") + bad + "'"});
  }
}

// The byte sequences are those of RFC 3629 and, refused, of Unicode's "ill-formed" examples.
TEST(InQuotes, IsValidUtf8) {
  for (const char* good : {"ß", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "a\xC3\xA4z"}) {
    EXPECT_EQ(in_quotes(good), fmt::format("'{}'", good));
  }
  EXPECT_EQ(in_quotes("\xC0\xAF"), "'\?\?'");        // overlong
  EXPECT_EQ(in_quotes("\xE0\x9F\xBF"), "'\?\?\?'");  // overlong
  EXPECT_EQ(in_quotes("\xED\xA0\x80"), "'\?\?\?'");  // a surrogate
  EXPECT_EQ(in_quotes("\xF4\x90\x80\x80"
                      "x"),
            "'\?\?\?\?x'");  // beyond U+10FFFF
  EXPECT_EQ(in_quotes("gr\xF6\xDF"
                      "e"),
            "'gr\?\?e'");                        // Latin-1
  EXPECT_EQ(in_quotes("a\xE2\x82"), "'a\?\?'");  // cut short
}

TEST(InQuotes, IsShortAndOfWholePrintableCharacters) {
  EXPECT_EQ(in_quotes("43,5"), "'43,5'");
  EXPECT_EQ(in_quotes(std::string_view("a\0b\nc\x7F", 6)), "'a?b?c?'");
  EXPECT_EQ(in_quotes(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(in_quotes(std::string(30'000'000, 'x')), "'" + std::string(60, 'x') + "...' (30000000 bytes)");
  // ä is two bytes: 59 bytes of x, and the character does not fit
  EXPECT_EQ(in_quotes(std::string(59, 'x') + "ä!"), "'" + std::string(59, 'x') + "...' (62 bytes)");
}

}  // namespace
}  // namespace pits::test
