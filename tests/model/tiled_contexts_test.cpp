// Contexts as rows of bf16 numbers: what the rows add up to is the contexts.
#include "pits/model/kernels/tiled_contexts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/simd_fixture.h"
#include "pits/core/random.h"

namespace pits::test {
namespace {

class TiledContextsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!machine_has_tiles()) GTEST_SKIP() << "needs AMX";
  }
};

Matrix<float> unit_matrix(std::size_t n) {
  Matrix<float> one(n, n);
  for (std::size_t i = 0; i < n; ++i) one(i, i) = 1.0F;
  return one;
}

// The rows of numbers, read out by a product with the unit matrix: exact, for every other term is 0.
Matrix<float> rows_of(const TiledContexts& tiles) {
  Matrix<float> rows(tiles.rows(), tiles.by_column().n());
  TileScratch scratch;
  tile_product(unit_matrix(tiles.rows()), LeftFactor::exact, tiles.by_column(), scratch, rows);
  return rows;
}

// The contexts again.
Matrix<float> rebuilt(const TiledContexts& tiles) {
  const Matrix<float> rows = rows_of(tiles);
  Matrix<float> x(tiles.columns(), rows.cols());
  for (std::size_t b = 0; b < x.cols(); ++b) {
    for (std::size_t l = 0; l < x.rows(); ++l) x(l, b) = tiles.shift()[l] + tiles.factor()[l] * rows(l, b);
    for (std::size_t k = 0; k < tiles.further().size(); ++k) x(tiles.further()[k], b) += rows(x.rows() + k, b);
  }
  return x;
}

TiledContexts tiles_of(const PaddedMatrix<float>& contexts, std::span<const float> base) {
  std::vector<ColumnSurvey> found;
  for (std::size_t l = 0; l < contexts.rows(); ++l) found.push_back(survey_column(contexts.row(l), base[l]));
  TiledContexts tiles;
  tiles.set(contexts, base, found);
  return tiles;
}

enum Kind { ones, two_values, constant, numbers };

// Columns 4i of ones and zeros, 4i+1 of two values, 4i+2 of one, 4i+3 of any numbers.
PaddedMatrix<float> mixed_contexts(std::size_t d, std::size_t B, std::vector<float>& base) {
  Stream stream({.seed = 3, .purpose = Purpose::target_sample});
  PaddedMatrix<float> x(d, B);
  base.assign(d, 0.0F);
  for (std::size_t l = 0; l < d; ++l) {
    base[l] = l % 4 == two_values || l % 4 == constant ? -0.3F / static_cast<float>(l) : 0.0F;
    for (float& value : x.row(l)) {
      const bool hot = stream.index(4) == 0;
      if (l % 4 == ones) value = hot ? 1.0F : 0.0F;
      if (l % 4 == two_values) value = hot ? 2.7F : base[l];
      if (l % 4 == constant) value = base[l];
      if (l % 4 == numbers) value = static_cast<float>(stream.normal());
    }
  }
  return x;
}

TEST_F(TiledContextsTest, RowsAddUpToTheContexts) {
  std::vector<float> base;
  const PaddedMatrix<float> x = mixed_contexts(45, 70, base);
  const TiledContexts tiles = tiles_of(x, base);
  EXPECT_FALSE(tiles.plain());
  EXPECT_EQ(tiles.further().size(), 22U);  // two more rows for each of 11 columns of numbers
  const Matrix<float> again = rebuilt(tiles);
  for (std::size_t l = 0; l < 45; ++l) {
    // Exact but for the difference of two values, which is rounded once, and its sum with the shift.
    const double tolerance = l % 4 == two_values ? 4 * 0x1p-24 * 2.7 : 0.0;
    for (std::size_t b = 0; b < 70; ++b) EXPECT_NEAR(again(l, b), x(l, b), tolerance) << "column " << l;
  }
}

TEST_F(TiledContextsTest, OnesAndZerosAreTheirOwnRows) {
  Stream stream({.seed = 4, .purpose = Purpose::target_sample});
  PaddedMatrix<float> x(40, 33);
  for (std::size_t l = 0; l < 40; ++l) {
    for (float& value : x.row(l)) value = stream.index(5) == 0 ? 1.0F : 0.0F;
  }
  const TiledContexts tiles = tiles_of(x, std::vector<float>(40, 0.0F));
  EXPECT_TRUE(tiles.plain());
  EXPECT_EQ(tiles.rows(), 40U);
  const Matrix<float> again = rebuilt(tiles);
  for (std::size_t l = 0; l < 40; ++l) EXPECT_TRUE(std::ranges::equal(again.row(l), x.row(l)));
}

// (B,rows) is (rows,B) turned.
TEST_F(TiledContextsTest, BothOrdersHoldTheSameNumbers) {
  std::vector<float> base;
  const PaddedMatrix<float> x = mixed_contexts(45, 70, base);
  const TiledContexts tiles = tiles_of(x, base);
  const Matrix<float> rows = rows_of(tiles);
  Matrix<float> turned(70, tiles.rows());
  TileScratch scratch;
  tile_product(unit_matrix(70), LeftFactor::exact, tiles.by_observation(), scratch, turned);
  for (std::size_t k = 0; k < rows.rows(); ++k) {
    for (std::size_t b = 0; b < 70; ++b) EXPECT_EQ(rows(k, b), turned(b, k));
  }
}

class ColumnsOnTarget : public OnEverySimdTarget {};

TEST_P(ColumnsOnTarget, SurveyCountsAndBoundsTheDifferences) {
  for (std::size_t n = 1; n <= 40; ++n) {
    std::vector<float> x(n, 7.0F);
    ColumnSurvey found = survey_column(x, 7.0F);
    EXPECT_EQ(found.differing, 0U);
    EXPECT_TRUE(found.bf16);
    x[n - 1] = 0.1F;
    found = survey_column(x, 7.0F);
    EXPECT_EQ(found.differing, 1U);
    EXPECT_EQ(found.lowest, 0.1F);
    EXPECT_EQ(found.highest, 0.1F);
    EXPECT_FALSE(found.bf16);
    x[0] = -2.0F;
    found = survey_column(x, 7.0F);
    EXPECT_EQ(found.differing, std::min<std::size_t>(n, 2));
    EXPECT_EQ(found.lowest, -2.0F);
    EXPECT_EQ(found.highest, n == 1 ? -2.0F : 0.1F);
  }
}

TEST_P(ColumnsOnTarget, PartsAreShortAndAddUpToTheNumbers) {
  Stream stream({.seed = 6, .purpose = Purpose::target_sample});
  std::vector<float> x(37), part[3] = {x, x, x};
  stream.fill_normal(x);
  split_column(x, part[0], part[1], part[2]);
  for (std::size_t b = 0; b < x.size(); ++b) {
    EXPECT_EQ(part[0][b] + (part[1][b] + part[2][b]), x[b]);
    EXPECT_LE(std::abs(part[1][b]), std::ldexp(std::abs(x[b]), -8));
  }
  for (const std::vector<float>& p : part) EXPECT_TRUE(survey_column(p, 0.0F).bf16);
}
INSTANTIATE_TEST_SUITE_P(Simd, ColumnsOnTarget, testing::ValuesIn(simd_targets()), target_name);

}  // namespace
}  // namespace pits::test
