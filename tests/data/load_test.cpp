// The benchmark's tables against numbers that scripts/golden/benchmark.py reads straight from the files with NumPy: the
// shape, the rows of each class, the first row, and three sums over all entries x_ij in the file's order:
//   Σ (j+1) x_ij,   Σ (j+1) x_ij (class_i + 1),   Σ (j+1) x_ij (i mod 97)
#include "pits/data/load.h"

#include <gtest/gtest.h>

#include "data/have_data.h"

namespace pits::test {
namespace {

std::shared_ptr<const Table> table_of(std::string_view set) { return load_table(find_data_set(set), ""); }

using Entries = std::vector<std::pair<std::uint32_t, float>>;

struct Expected {
  std::size_t rows, width;
  std::vector<std::size_t> classes;
  double sum, sum_by_class, sum_by_row;
  std::uint32_t first_class;
  Entries first_row;
};

Entries ones(std::initializer_list<std::uint32_t> columns) {
  Entries entries;
  for (const std::uint32_t j : columns) entries.emplace_back(j, 1.0F);
  return entries;
}

Entries entries_of(const SparseRows::Row& row) {
  Entries entries;
  for (std::size_t k = 0; k < row.columns.size(); ++k) entries.emplace_back(row.columns[k], row.values[k]);
  return entries;
}

void expect_table(const Table& table, const Expected& expected) {
  ASSERT_EQ(table.contexts.size(), expected.rows);
  EXPECT_EQ(table.contexts.width(), expected.width);
  EXPECT_EQ(entries_of(table.contexts[0]), expected.first_row);
  EXPECT_EQ(table.labels.size(), expected.classes.empty() ? 0U : expected.rows);
  EXPECT_EQ(table.classes.size(), expected.classes.size());
  if (!expected.classes.empty()) {
    EXPECT_EQ(table.labels[0], expected.first_class);
  }
  std::vector<std::size_t> counts(expected.classes.size());
  double sum = 0.0, sum_by_class = 0.0, sum_by_row = 0.0;
  for (std::size_t i = 0; i < expected.rows; ++i) {
    double row_sum = 0.0;
    for (const auto& [j, x] : entries_of(table.contexts[i])) row_sum += (j + 1.0) * static_cast<double>(x);
    sum += row_sum;
    sum_by_row += row_sum * static_cast<double>(i % 97);
    if (counts.empty()) continue;
    ++counts.at(table.labels[i]);
    sum_by_class += row_sum * (table.labels[i] + 1.0);
  }
  EXPECT_EQ(counts, expected.classes);
  // Whole numbers are summed exactly; the stocks' changes in another order than NumPy's.
  const double rounding = counts.empty() ? 1e-11 : 0.0;
  EXPECT_NEAR(sum, expected.sum, rounding * expected.sum);
  EXPECT_NEAR(sum_by_row, expected.sum_by_row, rounding * expected.sum_by_row);
  EXPECT_EQ(sum_by_class, expected.sum_by_class);
}

TEST(Benchmark, Statlog) {
  PITS_SKIP_WITHOUT("statlog");
  const auto table = table_of("statlog");
  expect_table(*table, {.rows = 43500,
                        .width = 9,
                        .classes = {34108, 37, 132, 6748, 2458, 6, 11},
                        .sum = 55582161,
                        .sum_by_class = 104226999,
                        .sum_by_row = 2672498066,
                        .first_class = 1,
                        .first_row = {{0, 50.F}, {1, 21.F}, {2, 77.F}, {4, 28.F}, {6, 27.F}, {7, 48.F}, {8, 22.F}}});
  EXPECT_EQ(table->classes, (std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7"}));
  EXPECT_EQ(table->sha256, "87b24ee9fb5137e1d417659cf905d84d0e15342bbaa60770f1ae83da1a38200a");
  EXPECT_EQ(table->remark, "");
}

TEST(Benchmark, Covertype) {
  PITS_SKIP_WITHOUT("covertype");
  const Entries first = {{0, 2596.F}, {1, 51.F},  {2, 3.F},    {3, 258.F}, {5, 510.F}, {6, 221.F},
                         {7, 232.F},  {8, 148.F}, {9, 6279.F}, {10, 1.F},  {42, 1.F}};
  expect_table(*table_of("covertype"), {.rows = 581012,
                                        .width = 54,
                                        .classes = {211840, 283301, 35754, 2747, 9493, 17367, 20510},
                                        .sum = 25059856586,
                                        .sum_by_class = 48991878156,
                                        .sum_by_row = 1202766348094,
                                        .first_class = 4,
                                        .first_row = first});
}

TEST(Benchmark, Adult) {
  PITS_SKIP_WITHOUT("adult");
  const auto table = table_of("adult");
  const Entries first = {{0, 39.F}, {1, 77516.F}, {2, 13.F}, {3, 2174.F}, {5, 40.F}, {11, 1.F}, {22, 1.F},
                         {33, 1.F}, {37, 1.F},    {46, 1.F}, {48, 1.F},   {87, 1.F}, {90, 1.F}};
  expect_table(*table, {.rows = 45222,
                        .width = 94,
                        .classes = {5540, 14, 6020, 5984, 1480, 2046, 2970, 4808, 232, 6008, 976, 5408, 1420, 2316},
                        .sum = 17410958365,
                        .sum_by_class = 121380794996,
                        .sum_by_row = 835247668859,
                        .first_class = 0,
                        .first_row = first});
  EXPECT_EQ(table->classes.front(), "Adm-clerical");
  EXPECT_EQ(table->classes.back(), "Transport-moving");
  EXPECT_EQ(table->sha256,
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d+"
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05");
}

TEST(Benchmark, Census) {
  PITS_SKIP_WITHOUT("census");
  const auto table = table_of("census");
  if (table->contexts.size() == 2458285) {  // the whole file
    EXPECT_EQ(table->contexts.width(), 389U);
    EXPECT_EQ(table->remark, "");
    return;
  }
  expect_table(*table,
               {.rows = 15317,
                .width = 385,
                .classes = {6247, 2112, 2737, 1277, 323, 1029, 1525, 38, 29},
                .sum = 201079945,
                .sum_by_class = 562471544,
                .sum_by_row = 9646736657,
                .first_class = 3,
                .first_row = ones({5,   8,   20,  31,  36,  46,  54,  59,  62,  64,  68,  71,  84,  98,  103, 106, 119,
                                   122, 124, 127, 128, 130, 132, 134, 146, 149, 152, 154, 158, 162, 165, 181, 184, 187,
                                   188, 192, 193, 202, 204, 211, 215, 218, 232, 242, 261, 268, 274, 279, 284, 295, 300,
                                   304, 317, 320, 323, 324, 328, 332, 341, 343, 347, 349, 352, 354, 367, 375, 382})});
  EXPECT_EQ(table->remark, "first 15,317 of 2,458,285 rows");
}

TEST(Benchmark, Mushroom) {
  PITS_SKIP_WITHOUT("mushroom");
  const auto table = table_of("mushroom");
  expect_table(
      *table,
      {.rows = 8124,
       .width = 117,
       .classes = {4208, 3916},
       .sum = 10325924,
       .sum_by_class = 15291140,
       .sum_by_row = 494533496,
       .first_class = 1,
       .first_row = ones({5, 8, 14, 21, 28, 32, 33, 36, 41, 49, 54, 58, 62, 71, 80, 82, 85, 88, 94, 97, 107, 115})});
  EXPECT_EQ(table->classes, (std::vector<std::string>{"e", "p"}));
}

TEST(Benchmark, Financial) {
  PITS_SKIP_WITHOUT("financial");
  const Entries first = {{0, 3.142899999999992922e-02F},
                         {1, 0.379999F},
                         {2, 0.880001F},
                         {3, 0.450001F},
                         {4, 0.310002F},
                         {5, 0.44F},
                         {6, 1.2F},
                         {7, 0.83F},
                         {8, 0.190001F},
                         {9, 0.379999F},
                         {10, 1.779999F},
                         {11, 0.710001F},
                         {12, 0.19125F},
                         {13, 0.27F},
                         {14, 0.855F},
                         {15, 0.1825F},
                         {16, 0.654999F},
                         {17, 0.1F},
                         {18, 0.709999F},
                         {19, 0.949996F},
                         {20, 0.470001F}};
  expect_table(*table_of("financial"), {.rows = 3713,
                                        .width = 21,
                                        .classes = {},
                                        .sum = 11434.846269468486,
                                        .sum_by_class = 0,
                                        .sum_by_row = 384406.09409661492,
                                        .first_class = 0,
                                        .first_row = first});
}

TEST(Benchmark, Jester) {
  PITS_SKIP_WITHOUT("jester");
  const auto table = table_of("jester");
  ASSERT_EQ(table->rewards.size(), 19181U * 40U);
  EXPECT_EQ(table->reward_columns, 40U);
  EXPECT_EQ(table->contexts.size(), 19181U);
  EXPECT_EQ(table->contexts.width(), 40U);
  EXPECT_EQ(table->rewards[0], -7.52);
  EXPECT_EQ(table->rewards[4], -6.75);
  EXPECT_EQ(table->rewards[19180 * 40 + 35], -0.29);
  EXPECT_EQ(table->rewards[19180 * 40 + 39], 5.15);
  double sum = 0.0, context_sum = 0.0;
  for (const double r : table->rewards) sum += r;
  for (std::size_t i = 0; i < 19181; ++i) {
    for (const float x : table->contexts[i].values) context_sum += static_cast<double>(x);
  }
  EXPECT_NEAR(sum, 1154958.17, 1e-6);
  EXPECT_NEAR(context_sum, 1154958.17, 0.5) << "767,240 floats below 10: off by at most 2⁻²¹ each";
}

TEST(Benchmark, AreSharedByAllWhoHoldThem) {
  PITS_SKIP_WITHOUT("statlog");
  const auto table = table_of("statlog");
  EXPECT_EQ(table_of("statlog"), table);
}

}  // namespace
}  // namespace pits::test
