#include "pits/data/read/csv_table.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "pits/data/read/csv_survey.h"
#include "pits/schema/schema.h"

namespace pits::test {
namespace {

class CsvTable : public testing::Test {
 protected:
  std::shared_ptr<const Table> labelled(std::string_view text, const std::string& label, CsvTableConfig config = {}) {
    return labelled_csv_table(written(text, std::move(config)), label);
  }
  std::shared_ptr<const Table> rewards(std::string_view text, std::size_t actions, CsvTableConfig config = {}) {
    return rewards_csv_table(written(text, std::move(config)), actions);
  }
  std::string labelled_error(std::string_view text, const std::string& label, const CsvTableConfig& config = {}) {
    return message_of([&] { labelled(text, label, config); });
  }
  std::string rewards_error(std::string_view text, std::size_t actions, const CsvTableConfig& config = {}) {
    return message_of([&] { rewards(text, actions, config); });
  }

  CsvTableConfig written(std::string_view text, CsvTableConfig config) {
    config.file = (scratch_ / "mine.csv").string();
    write_bytes(config.file, text);
    return config;
  }

 private:
  Scratch scratch_;
};

std::vector<std::vector<float>> dense(const Table& table) {
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < table.contexts.size(); ++i) {
    std::vector<float>& x = rows.emplace_back(table.contexts.width());
    const SparseRows::Row row = table.contexts[i];
    for (std::size_t k = 0; k < row.columns.size(); ++k) x.at(row.columns[k]) = row.values[k];
  }
  return rows;
}

using Dense = std::vector<std::vector<float>>;
using Labels = std::vector<std::uint32_t>;
using Names = std::vector<std::string>;

const char* const pets = "age,colour,kind\n3,red,dog\n5,blue,cat\n1,red,cat\n";

TEST_F(CsvTable, FindsCategoriesAndClassesByItself) {
  const auto table = labelled(pets, "kind");
  EXPECT_EQ(dense(*table), (Dense{{3, 0, 1}, {5, 1, 0}, {1, 0, 1}}));
  EXPECT_EQ(table->classes, (Names{"cat", "dog"}));
  EXPECT_EQ(table->labels, (Labels{1, 0, 0}));
  // sha256sum of the text
  EXPECT_EQ(table->sha256, "991c6848b3c9bd4f48beba5601dbac7bc0443b4f8868ffe18ada798c06e20ed7");
}

// A service with the table's schema sees what the table holds.
TEST_F(CsvTable, IsWhatItsSchemaMakesOfItsRows) {
  const auto table = labelled("shop,age,colour,kind\n10,3.5,red,dog\n9,-5,,cat\n10,1e3,blue,cat\n", "kind",
                              {.categorical = "auto+shop"});
  const Schema schema(
      {{.name = "age"},
       {.name = "shop", .kind = FeatureKind::category, .levels = {"9", "10"}},
       {.name = "colour", .kind = FeatureKind::category, .levels = {"blue", "red"}, .missing = Otherwise::level}});
  EXPECT_EQ(table->schema.value().text(), schema.text());
  EXPECT_EQ(dense(*table), (Dense{schema.encode(R"({"shop": 10, "age": 3.5, "colour": "red"})"),
                                  schema.encode(R"({"shop": 9, "age": -5})"),
                                  schema.encode(R"({"shop": "10", "age": 1e3, "colour": "blue"})")}));
  expect_mentions(labelled_error("age,colour,kind\n3,,dog\n5,NA,cat\n", "kind", {.categorical = "colour"}),
                  {"column 'colour' has no values"});
}

TEST_F(CsvTable, ColumnsHaveNumbersTooAndTheHeaderIsFoundByItsWords) {
  EXPECT_EQ(labelled(pets, "3")->labels, (Labels{1, 0, 0}));
  const auto no_header = labelled("3,red,dog\n5,blue,cat\n", "3");
  EXPECT_EQ(no_header->contexts.size(), 2U);
  const auto words = labelled("red,dog\nblue,cat\n", "2");
  EXPECT_EQ(words->contexts.size(), 2U) << "words above words are a row";
  EXPECT_EQ(labelled("a,b\nblue,cat\nred,dog\n", "2", {.header = Header::yes})->contexts.size(), 2U);
  EXPECT_EQ(labelled("a,b\n1,cat\n2,dog\n", "2", {.categorical = "auto+1", .header = Header::no})->classes,
            (Names{"b", "cat", "dog"}));
  expect_mentions(labelled_error("a,b\n1,cat\n2,dog\n", "2", {.header = Header::no}),
                  {"line 1: 'a' in column '1', where 2 of 3", "or header=yes"});
}

TEST_F(CsvTable, ColumnsCanBeMadeCategoricalOrDropped) {
  EXPECT_EQ(dense(*labelled(pets, "kind", {.categorical = "age+colour"})),
            (Dense{{0, 1, 0, 0, 1}, {0, 0, 1, 1, 0}, {1, 0, 0, 0, 1}}));
  EXPECT_EQ(dense(*labelled(pets, "kind", {.drop = "colour"})), (Dense{{3}, {5}, {1}}));
  expect_mentions(labelled_error(pets, "kind", {.categorical = "none"}), {"mine.csv', line 2", "column 2", "'red'"});
  expect_mentions(labelled_error(pets, "kind", {.drop = "age+colour"}), {"no column for the context"});
  expect_mentions(labelled_error(pets, "kind", {.drop = "kind"}), {"'kind'", "label"});
  expect_mentions(labelled_error(pets, "kind", {.drop = "colr"}), {"'colr'", "did you mean 'colour'"});
}

TEST_F(CsvTable, NumbersOutOfRangeAreNoCategories) {
  for (const char* bad : {"1e300", "1e999", "nan", "inf"}) {
    expect_mentions(labelled_error(std::string("x,kind\n") + bad + ",a\n4,b\n", "kind"),
                    {bad, "finite number", "line 2"});
  }
}

TEST_F(CsvTable, MissingValuesAreOneLevelOrRefused) {
  const char* const text = "age,colour,kind\n3,?,dog\n5,,cat\n1,NA,cat\n2,red,cat\n";
  EXPECT_EQ(dense(*labelled(text, "kind")), (Dense{{3, 0, 1}, {5, 0, 1}, {1, 0, 1}, {2, 1, 0}}));
  expect_mentions(labelled_error(text, "kind", {.missing = Missing::reject}),
                  {"line 2", "'colour' has no value ('?')"});
  const char* const no_age = "age,kind\n3,dog\n?,cat\n";
  expect_mentions(labelled_error(no_age, "kind"), {"line 3", "'age' has no value", "median"});
  EXPECT_EQ(dense(*labelled(no_age, "kind", {.categorical = "age"})), (Dense{{1, 0}, {0, 1}}));
  EXPECT_EQ(dense(*labelled("age,size,kind\n3,1,dog\n?,2,cat\n", "kind", {.drop = "age"})), (Dense{{1}, {2}}));
  expect_mentions(labelled_error("age,kind\n3,dog\n4,\n", "kind"), {"line 3", "'kind' has no value"});
}

TEST_F(CsvTable, DelimitersAreFoundAndQuotesDoNotCount) {
  EXPECT_EQ(dense(*labelled("\"a,b,c\";k\n1;x\n2;y\n", "k")), (Dense{{1}, {2}}));
  EXPECT_EQ(dense(*labelled("\r\n\r\na\tk\r\n1\tx\r\n2\ty\r\n", "k")), (Dense{{1}, {2}}));
  EXPECT_EQ(labelled("a;b,k\n1;2,x\n1;3,y\n", "k", {.delimiter = Delimiter::comma})->contexts.width(), 2U);
}

TEST_F(CsvTable, FilesThatAreNoSuchTableAreRefused) {
  expect_mentions(labelled_error("", "kind"), {"mine.csv' has no rows"});
  expect_mentions(labelled_error("a,kind\n", "kind"), {"mine.csv' has no rows"});
  expect_mentions(labelled_error(pets, "kid"), {"mine.csv'", "'kid'", "did you mean 'kind'"});
  expect_mentions(labelled_error("1,2\n3,4\n", "7"), {"no column 7", "1 to 2"});
  expect_mentions(labelled_error("1,2\n3,4\n", "0"), {"no column 0"});
  expect_mentions(labelled_error("a,a,kind\n1,2,x\n", "kind"), {"two columns are called 'a'"});
  expect_mentions(labelled_error("a,kind\n1,x\n2,x\n", "kind"), {"'kind' has one class only, 'x'"});
  expect_mentions(labelled_error("a,kind\n1,x\n2\n", "kind"), {"mine.csv', line 3", "1 fields, but 2"});
  expect_mentions(labelled_error(pets, ""), {"no label given", "--label"});
  expect_mentions(message_of([] { labelled_csv_table({}, "kind"); }), {"no file given", "csv:FILE"});
  expect_mentions(message_of([] { labelled_csv_table({.file = "/absent.csv"}, "kind"); }),
                  {"'/absent.csv'", "no such file"});
  std::string many = "a,kind\n";
  for (int i = 0; i < 1001; ++i) many += "1,x" + std::to_string(i) + "\n";
  expect_mentions(labelled_error(many, "kind"), {"line 1002", "column 2", "1000 levels"});
}

TEST_F(CsvTable, RewardsAreFoundByNameOrAtTheEnd) {
  const char* const text = "reward_a,x,colour,reward_b\n0.1,3,red,2\n-1,4,blue,0\n";
  const auto named = rewards(text, 0);
  EXPECT_EQ(dense(*named), (Dense{{3, 0, 1}, {4, 1, 0}}));
  EXPECT_EQ(named->rewards, (std::vector<double>{0.1, 2, -1, 0}));
  EXPECT_EQ(named->reward_columns, 2U);
  const auto last = rewards("1,2,3\n4,5,6\n", 2);
  EXPECT_EQ(dense(*last), (Dense{{1}, {4}}));
  EXPECT_EQ(last->rewards, (std::vector<double>{2, 3, 5, 6}));
  expect_mentions(rewards_error("a,b\n1,2\n", 99), {"has 2 columns", "actions must be from 2 to 2, not 99"});
  expect_mentions(rewards_error("a,b\n1,2\n", 0), {"0 of 2 columns", "reward_*", "actions=K"});
  expect_mentions(rewards_error("a,reward_b\n1,2\n", 0), {"1 of 2 columns"});
  expect_mentions(rewards_error("1,2,3\n", 3), {"no column for the context"});
  expect_mentions(rewards_error("1,2,3\n", 5), {"has 3 columns", "actions must be from 2 to 3, not 5"});
  expect_mentions(rewards_error("x,reward_a,reward_b\n1,2,?\n", 0), {"line 2", "'reward_b' has no value"});
  expect_mentions(rewards_error("x,reward_a,reward_b\n1,2,much\n", 0), {"line 2", "column 3", "'much'"});
}

// The file is written again with other rows of the same size, at once and in place.
TEST_F(CsvTable, ARewrittenFileIsReadAgain) {
  const auto before = labelled("x,kind\n1,a\n2,b\n", "kind");
  const auto same = labelled("x,kind\n1,a\n2,b\n", "kind");
  EXPECT_EQ(same, before) << "one copy of the same content";
  const auto after = labelled("x,kind\n1,b\n2,a\n", "kind");
  EXPECT_EQ(before->labels, (Labels{0, 1}));
  EXPECT_EQ(after->labels, (Labels{1, 0}));
  EXPECT_NE(after->sha256, before->sha256);
}

// The same columns with and without a header are two tables.
TEST_F(CsvTable, AHeaderIsPartOfWhatIsShared) {
  const char* const words = "a,b\nblue,cat\nred,dog\n";
  const auto named = labelled(words, "b"), numbered = labelled(words, "2");
  EXPECT_EQ(named->contexts.size(), 2U);
  EXPECT_EQ(numbered->contexts.size(), 3U);
}

std::string column_of(int rows, const std::function<std::string(int)>& field) {
  std::string text = "age;kind\n";
  for (int i = 0; i < rows; ++i) text += fmt::format("{};{}\n", field(i), i % 2);
  return text;
}

TEST_F(CsvTable, OneOddFieldDoesNotMakeAColumnOfNumbersACategory) {
  for (const char* odd : {"N/A", "null", "None", "-", "n.a.", "0x1F", "12 years"}) {
    const std::string text = column_of(600, [&](int i) { return i == 41 ? odd : fmt::format("{}", 20.5 + i); });
    expect_mentions(labelled_error(text, "kind"), {"mine.csv', line 43", fmt::format("'{}'", odd), "'age'",
                                                   "599 of 600", "drop=age", "categorical=auto+age"});
    EXPECT_EQ(labelled(text, "kind", {.categorical = "auto+age"})->contexts.width(), 600U);
    EXPECT_EQ(labelled(text, "kind", {.categorical = "age"})->contexts.width(), 600U);
    expect_mentions(labelled_error(text, "kind", {.drop = "age"}), {"no column for the context"});
  }
  const std::string nul = column_of(600, [](int i) { return i == 41 ? std::string("4\0", 2) : std::to_string(i); });
  expect_mentions(labelled_error(nul, "kind"), {"line 43", "'4?'", "599 of 600"});
  const std::string many = column_of(600, [](int i) { return i % 3 == 0 ? "N/A" : std::to_string(i); });
  expect_mentions(labelled_error(many, "kind"), {"line 2", "'N/A'", "400 of 600"});
}

TEST_F(CsvTable, DecimalCommasAreRefusedInWords) {
  for (const char* comma : {"43,5", "-1.234,5", "1,234"}) {
    const std::string all = column_of(10, [&](int) { return comma; });
    expect_mentions(labelled_error(all, "kind"), {"line 2", fmt::format("'{}'", comma), "'age' has a comma", "43.5"});
    const std::string some = column_of(10, [&](int i) { return i == 7 ? comma : "3"; });
    expect_mentions(labelled_error(some, "kind"), {"line 9", fmt::format("'{}'", comma), "'age' has a comma"});
  }
}

TEST_F(CsvTable, ASignMayBePlus) {
  EXPECT_EQ(dense(*labelled("x,k\n+43.5,a\n-2,b\n7,a\n", "k")), (Dense{{43.5}, {-2}, {7}}));
}

TEST_F(CsvTable, AFewNumbersDoNotMakeAColumnNumeric) {
  EXPECT_EQ(labelled("size,k\nS,a\nM,b\n38,a\nL,b\n", "k")->contexts.width(), 4U);
}

TEST_F(CsvTable, TheRemarkNamesTheOneHotColumns) {
  EXPECT_EQ(labelled("x,kind\n1,a\n2,b\n", "kind")->remark, "");
  EXPECT_EQ(labelled(pets, "kind")->remark, "one-hot columns: 'colour' (2 levels)");
  EXPECT_EQ(labelled(pets, "kind", {.categorical = "age+colour"})->remark,
            "one-hot columns: 'age' (3 levels), 'colour' (2 levels)");
  std::string header, row;
  for (int i = 0; i < 10; ++i) header += fmt::format("c{},", i), row += "w,";
  EXPECT_EQ(labelled(header + "k\n" + row + "1\n" + row + "2\n", "k")->remark,
            "one-hot columns: 'c0' (1 level), 'c1' (1 level), 'c2' (1 level), 'c3' (1 level), 'c4' (1 level), "
            "'c5' (1 level), 'c6' (1 level), 'c7' (1 level), and 2 more");
}

// Remarks go into JSON files, which are UTF-8.
TEST_F(CsvTable, TheRemarkIsUtf8WhateverTheHeaderIs) {
  EXPECT_EQ(labelled("gr\xF6\xDF"
                     "e,k\nS,1\nM,2\n",
                     "k")
                ->remark,
            "one-hot columns: 'gr\?\?e' (2 levels)");
}

TEST_F(CsvTable, OtherEncodingsAreNamed) {
  const auto wide = [](std::string_view text, std::size_t bytes) {
    std::string out;
    for (const char c : text) out += c + std::string(bytes - 1, '\0');
    return out;
  };
  expect_mentions(labelled_error("\xFF\xFE" + wide(pets, 2), "kind"), {"mine.csv' is UTF-16", "UTF-8"});
  expect_mentions(labelled_error("\xFE\xFF" + wide(pets, 2), "kind"), {"is UTF-16"});
  expect_mentions(labelled_error(std::string("\xFF\xFE\0\0", 4) + wide(pets, 4), "kind"), {"is UTF-32"});
  expect_mentions(labelled_error(wide(pets, 2), "kind"), {"not text, or UTF-16", "NUL bytes"});
}

TEST_F(CsvTable, AFirstLineWithoutEndIsRefused) {
  expect_mentions(labelled_error(std::string(17'000'000, 'x'), "kind"), {"mine.csv'", "first line", "16 MB"});
  expect_mentions(labelled_error(std::string(17'000'000, '\n'), "kind"), {"first line", "16 MB"});
}

// A pipe gives its bytes once only.
TEST_F(CsvTable, PipesAndDevicesAreRefused) {
  const Scratch scratch;
  const std::string fifo = (scratch / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& file : {fifo, std::string("/dev/null")}) {
    const auto message = message_of([&] { labelled_csv_table({.file = file}, "kind"); });
    expect_mentions(message, {"'" + file + "'", "pipe or a device", "file first"});
    expect_mentions(message_of([&] { rewards_csv_table({.file = file}, 0); }), {"'" + file + "'"});
  }
}

TEST_F(CsvTable, AFileThatChangesBetweenItsTwoReadingsIsRefused) {
  const CsvTableConfig config = written("x,kind\n1,a\n2,b\n", {});
  const CsvSurvey survey = survey_csv(config);
  const std::vector<ColumnKind> kinds = {ColumnKind::numeric, ColumnKind::label};
  EXPECT_EQ(read_csv_table(config, survey, kinds).labels, (Labels{0, 1}));
  const auto changed = [&](std::string_view text) {
    write_bytes(config.file, text);
    return message_of([&] { read_csv_table(config, survey, kinds); });
  };
  expect_mentions(changed("x,kind\n1,b\n2,a\n"), {"mine.csv' was changed"});
  expect_mentions(changed(""), {"mine.csv' was changed"});
  std::string wide = "x,kind\n?";
  for (int i = 0; i < 50'000; ++i) wide += ",?";
  expect_mentions(changed(wide), {"mine.csv', line 2", "50001 fields, but 2"});
  expect_mentions(changed("?,?,?\n?,?,?\n"), {"mine.csv', line 2", "3 fields, not 2"});
}

}  // namespace
}  // namespace pits::test
