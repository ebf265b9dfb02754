#include "pits/data/table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "experiment/expect_error.h"

namespace pits::test {
namespace {

using enum ColumnKind;
using Line = std::vector<std::string_view>;

Table table_of(std::vector<ColumnKind> kinds, const std::vector<Line>& lines) {
  TableBuilder builder(std::move(kinds));
  std::size_t number = 0;
  for (const Line& line : lines) builder.add(line, {"f", ++number});
  return std::move(builder).finish();
}

std::vector<float> dense(const SparseRows& rows, std::size_t i) {
  std::vector<float> x(rows.width());
  const SparseRows::Row row = rows[i];
  for (std::size_t k = 0; k < row.columns.size(); ++k) x.at(row.columns[k]) = row.values[k];
  return x;
}

const std::vector<Line> people = {
    {"b", "10", "7", "x", "0.5"}, {"a", "9", "0", "y", "0"}, {"b", "100", "-1", "x", "2"}};

TEST(Table, HasNumbersFirstThenSortedLevels) {
  // By hand: numbers are columns 2 and 4; levels of column 0: a b; of column 1, by number: 9 10 100; classes x y.
  const Table table = table_of({categorical, categorical, numeric, label, numeric}, people);
  ASSERT_EQ(table.contexts.width(), 7U);
  ASSERT_EQ(table.contexts.size(), 3U);
  EXPECT_EQ(dense(table.contexts, 0), (std::vector<float>{7, 0.5, 0, 1, 0, 1, 0}));
  EXPECT_EQ(dense(table.contexts, 1), (std::vector<float>{0, 0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(dense(table.contexts, 2), (std::vector<float>{-1, 2, 0, 1, 0, 0, 1}));
  EXPECT_EQ(table.contexts[1].columns.size(), 2U) << "zeros are not kept";
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::ranges::is_sorted(table.contexts[i].columns)) << i;
  EXPECT_EQ(table.classes, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(table.labels, (std::vector<std::uint32_t>{0, 1, 0}));
}

TEST(Table, CodesDoNotDependOnTheOrderOfTheRows) {
  const std::vector<ColumnKind> kinds = {categorical, label, numeric, categorical, dropped};
  const Table forwards = table_of(kinds, people);
  const Table backwards = table_of(kinds, {people[2], people[1], people[0]});
  EXPECT_EQ(forwards.classes, (std::vector<std::string>{"9", "10", "100"}));
  EXPECT_EQ(backwards.classes, forwards.classes);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(dense(backwards.contexts, 2 - i), dense(forwards.contexts, i));
    EXPECT_EQ(backwards.labels[2 - i], forwards.labels[i]);
  }
}

// Random tables: every row is what the schema, read again from its text, makes of the row as a JSON object; and what a
// plain loop over sorted levels makes of it.
RC_GTEST_PROP(Table, HoldsWhatItsSchemaMakesOfEveryRow, ()) {
  const std::vector<ColumnKind> kinds =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<ColumnKind>>(rc::gen::element(numeric, categorical, dropped)));
  RC_PRE(std::ranges::find_if(kinds, [](ColumnKind k) { return k != dropped; }) != kinds.end());
  const auto n = *rc::gen::inRange<std::size_t>(1, 20);
  std::vector<std::vector<std::string>> rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (const ColumnKind kind : kinds) {
      const std::string number = fmt::format("{}", *rc::gen::inRange(-30, 30) / 4.0);
      const std::string level = *rc::gen::element<std::string>("a", "b", "10", "9", "é", "A b", "");
      rows[i].push_back(kind == numeric ? number : i == 0 && level.empty() ? "z" : level);
    }
  }
  std::vector<Line> lines;
  for (const auto& row : rows) lines.emplace_back(row.begin(), row.end());
  const Table table = table_of(kinds, lines);
  const Schema schema(table.schema.value().text());
  RC_ASSERT(schema.width() == table.contexts.width());
  for (std::size_t i = 0; i < n; ++i) {
    nlohmann::json named = nlohmann::json::object();
    std::vector<float> numbers, marks;
    for (std::size_t c = 0; c < kinds.size(); ++c) {
      const std::string& field = rows[i][c];
      const std::string name = std::to_string(c + 1);
      if (kinds[c] == numeric) {
        named[name] = std::stod(field);
        numbers.push_back(std::stof(field));
      } else if (kinds[c] == categorical) {
        if (!field.empty()) named[name] = field;
        std::set<std::string> levels;
        for (const auto& row : rows) levels.insert(row[c]);
        const bool missing = levels.erase("") > 0;
        const bool by_number =
            std::ranges::all_of(levels, [](const std::string& level) { return level == "10" || level == "9"; });
        std::vector<std::string> order(levels.begin(), levels.end());
        if (by_number) std::ranges::reverse(order);  // 10 9
        for (const std::string& level : order) marks.push_back(level == field ? 1.0F : 0.0F);
        if (missing) marks.push_back(field.empty() ? 1.0F : 0.0F);
      }
    }
    numbers.insert(numbers.end(), marks.begin(), marks.end());
    RC_ASSERT(dense(table.contexts, i) == schema.encode(named.dump()));
    RC_ASSERT(dense(table.contexts, i) == numbers);
  }
}

TEST(Table, KeepsRewardsInFullPrecision) {
  const Table table = table_of({dropped, reward, numeric, dropped, reward}, {{"", "0.1", "1", "", "-3"}});
  EXPECT_EQ(table.reward_columns, 2U);
  EXPECT_EQ(table.rewards, (std::vector<double>{0.1, -3.0}));
  EXPECT_TRUE(table.labels.empty());
  EXPECT_TRUE(table.classes.empty());
}

TEST(Table, RefusesWhatDoesNotFitWithItsLine) {
  const auto error_of = [](const std::vector<Line>& lines) {
    return message_of([&] { table_of({numeric, label}, lines); });
  };
  expect_mentions(error_of({{"1", "a"}, {"1"}}), {"'f', line 2", "1 fields, not 2"});
  expect_mentions(error_of({{"1", "a"}, {"2", "b"}, {"two", "b"}}), {"'f', line 3", "column 1", "'two'"});
}

TEST(Table, RefusesMoreThanAThousandLevels) {
  std::vector<std::string> names;
  for (int i = 0; i < 1001; ++i) names.push_back("n" + std::to_string(i));
  for (const ColumnKind kind : {categorical, label}) {
    std::vector<Line> lines;
    for (int i = 0; i < 1000; ++i) lines.push_back({names[static_cast<std::size_t>(i)], "1"});
    EXPECT_NO_THROW(table_of({kind, numeric}, lines));
    lines.push_back({names[1000], "1"});
    expect_mentions(message_of([&] { table_of({kind, numeric}, lines); }), {"line 1001", "column 1", "1000 levels"});
  }
}

}  // namespace
}  // namespace pits::test
