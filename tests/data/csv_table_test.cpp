#include "pits/data/csv_table.h"

#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"

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

 private:
  CsvTableConfig written(std::string_view text, CsvTableConfig config) {
    std::filesystem::create_directory(scratch_ / std::to_string(++files_));  // a table in use is not read again
    config.file = (scratch_ / std::to_string(files_) / "mine.csv").string();
    write_bytes(config.file, text);
    return config;
  }
  Scratch scratch_;
  int files_ = 0;
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

TEST_F(CsvTable, ColumnsHaveNumbersTooAndTheHeaderIsFoundByItsWords) {
  EXPECT_EQ(labelled(pets, "3")->labels, (Labels{1, 0, 0}));
  const auto no_header = labelled("3,red,dog\n5,blue,cat\n", "3");
  EXPECT_EQ(no_header->contexts.size(), 2U);
  const auto words = labelled("red,dog\nblue,cat\n", "2");
  EXPECT_EQ(words->contexts.size(), 2U) << "words above words are a row";
  EXPECT_EQ(labelled("a,b\nblue,cat\nred,dog\n", "2", {.header = Header::yes})->contexts.size(), 2U);
  EXPECT_EQ(labelled("a,b\n1,cat\n2,dog\n", "2", {.categorical = "auto", .header = Header::no})->classes,
            (Names{"b", "cat", "dog"}));
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
  EXPECT_EQ(dense(*labelled(text, "kind")), (Dense{{3, 1, 0}, {5, 1, 0}, {1, 1, 0}, {2, 0, 1}}));
  expect_mentions(labelled_error(text, "kind", {.missing = Missing::reject}),
                  {"line 2", "'colour' has no value ('?')"});
  const char* const no_age = "age,kind\n3,dog\n?,cat\n";
  expect_mentions(labelled_error(no_age, "kind"), {"line 3", "'age' has no value", "categorical"});
  EXPECT_EQ(dense(*labelled(no_age, "kind", {.categorical = "age"})), (Dense{{0, 1}, {1, 0}}));
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

}  // namespace
}  // namespace pits::test
