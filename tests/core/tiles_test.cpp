// Products on tile registers against plain loops in double.
#include "pits/core/simd/tiles.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "pits/core/error.h"
#include "pits/core/simd/kernels.h"

namespace pits {
namespace {

// Numbers with a gap of NaN after each row.
class Numbers {
 public:
  Numbers(std::size_t rows, std::size_t cols, unsigned seed, std::size_t gap = 3)
      : rows_(rows), cols_(cols), gap_(gap), storage_(rows * (cols + gap), std::nanf("")) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    for (std::size_t i = 0; i < rows; ++i) {
      for (float& x : view().row(i)) x = normal(generator);
    }
  }
  MatrixView<float> view() { return {storage_.data(), rows_, cols_, cols_ + gap_}; }
  bool gaps_untouched() {
    for (std::size_t i = 0; i < rows_; ++i) {
      for (std::size_t j = cols_; j < cols_ + gap_; ++j) {
        if (!std::isnan(storage_[i * (cols_ + gap_) + j])) return false;
      }
    }
    return true;
  }

 private:
  std::size_t rows_, cols_, gap_;
  std::vector<float> storage_;
};

void round_to_bf16(MatrixView<float> b) {
  for (std::size_t i = 0; i < b.rows(); ++i) {
    for (float& x : b.row(i)) x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xFFFF0000U);
  }
}

struct Size {
  std::size_t m, k, n;
};

// Tiles of rows of one to four and more than four, of full and of lower height; steps within a block of four and beyond
// it, whole and not; columns within a tile, whole ones, and a rest.
const std::vector<Size> sizes = {{1, 1, 1},     {5, 32, 16},   {16, 31, 17},  {17, 33, 40}, {33, 64, 15},
                                 {50, 389, 70}, {50, 130, 50}, {64, 128, 16}, {65, 20, 33}, {130, 257, 19}};

class TileProduct : public testing::Test {
 protected:
  void SetUp() override {
    if (!machine_has_tiles()) GTEST_SKIP() << "needs AMX";
  }
};

// max over i,j of |c − ab| over Σ |a||b|.
double worst_error(ConstMatrixView<float> a, ConstMatrixView<float> b, ConstMatrixView<float> c) {
  double worst = 0.0;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.cols(); ++j) {
      double sum = 0.0, magnitude = 0.0;
      for (std::size_t l = 0; l < a.cols(); ++l) {
        const double product = static_cast<double>(a(i, l)) * b(l, j);
        sum += product;
        magnitude += std::abs(product);
      }
      worst = std::max(worst, std::abs(c(i, j) - sum) / magnitude);
    }
  }
  return worst;
}

// A sum of n float32 numbers is off by at most n roundings of 2⁻²⁴ of the magnitude.
double rounding(const Size& s, std::size_t products) { return static_cast<double>(s.k * products) * 0x1p-24; }

TEST_F(TileProduct, OfExactBf16NumbersIsAProductInFloat32) {
  for (const Size& s : sizes) {
    Numbers a(s.m, s.k, 1), b(s.k, s.n, 2), c(s.m, s.n, 3);
    round_to_bf16(b.view());
    TileFactor factor;
    TileScratch scratch;
    factor.pack(b.view());
    tile_product(a.view(), LeftFactor::exact, factor, scratch, c.view());
    EXPECT_LE(worst_error(a.view(), b.view(), c.view()), rounding(s, 3)) << s.m << 'x' << s.k << 'x' << s.n;
    EXPECT_TRUE(c.gaps_untouched());
  }
}

// Both factors of a product are off by at most 2⁻⁸.
TEST_F(TileProduct, OfRoundedNumbersLosesWhatRoundingLoses) {
  for (const Size& s : sizes) {
    Numbers a(s.m, s.k, 4), b(s.k, s.n, 5), c(s.m, s.n, 6);
    TileFactor factor;
    TileScratch scratch;
    factor.pack(b.view());
    tile_product(a.view(), LeftFactor::rounded, factor, scratch, c.view());
    const double error = worst_error(a.view(), b.view(), c.view());
    EXPECT_LE(error, 0x1p-7 + 0x1p-16 + rounding(s, 1)) << s.m << 'x' << s.k << 'x' << s.n;
    EXPECT_GT(error, 1e-5) << "the numbers are rounded";
  }
}

TEST_F(TileProduct, ATransposedFactorGivesTheSameBits) {
  for (const Size& s : sizes) {
    Numbers a(s.m, s.k, 7), b(s.k, s.n, 8), turned(s.n, s.k, 9), c(s.m, s.n, 10), e(s.m, s.n, 11);
    for (std::size_t l = 0; l < s.k; ++l) {
      for (std::size_t j = 0; j < s.n; ++j) turned.view()(j, l) = b.view()(l, j);
    }
    TileFactor factor, other;
    TileScratch scratch;
    factor.pack(b.view());
    other.pack_transposed(turned.view());
    tile_product(a.view(), LeftFactor::exact, factor, scratch, c.view());
    tile_product(a.view(), LeftFactor::exact, other, scratch, e.view());
    for (std::size_t i = 0; i < s.m; ++i) EXPECT_TRUE(std::ranges::equal(c.view().row(i), e.view().row(i)));
  }
}

// One factor and one scratch for products of several shapes: nothing of an earlier one is left.
TEST_F(TileProduct, RemembersNothing) {
  TileFactor factor;
  TileScratch scratch;
  for (const Size& s : {sizes[5], sizes[3], sizes[9], sizes[0], sizes[5]}) {
    for (const bool transposed : {false, true}) {
      Numbers a(s.m, s.k, 12), b(transposed ? s.n : s.k, transposed ? s.k : s.n, 13), c(s.m, s.n, 14), e(s.m, s.n, 15);
      TileFactor fresh;
      TileScratch fresh_scratch;
      transposed ? factor.pack_transposed(b.view()) : factor.pack(b.view());
      transposed ? fresh.pack_transposed(b.view()) : fresh.pack(b.view());
      tile_product(a.view(), LeftFactor::exact, factor, scratch, c.view());
      tile_product(a.view(), LeftFactor::exact, fresh, fresh_scratch, e.view());
      for (std::size_t i = 0; i < s.m; ++i) EXPECT_TRUE(std::ranges::equal(c.view().row(i), e.view().row(i)));
    }
  }
}

TEST_F(TileProduct, OverNothingIsZero) {
  Numbers a(3, 0, 1), b(0, 5, 1), c(3, 5, 1);
  TileFactor factor;
  TileScratch scratch;
  factor.pack(b.view());
  tile_product(a.view(), LeftFactor::rounded, factor, scratch, c.view());
  for (std::size_t i = 0; i < 3; ++i) {
    for (const float x : c.view().row(i)) EXPECT_EQ(x, 0.0F);
  }
}

TEST_F(TileProduct, RefusesShapesThatDoNotFit) {
  Numbers a(3, 4, 1), b(4, 5, 1), c(3, 5, 1), wrong(3, 4, 1);
  TileFactor factor;
  TileScratch scratch;
  factor.pack(b.view());
  EXPECT_NO_THROW(tile_product(a.view(), LeftFactor::rounded, factor, scratch, c.view()));
  EXPECT_THROW(tile_product(b.view(), LeftFactor::rounded, factor, scratch, c.view()), Error);
  EXPECT_THROW(tile_product(a.view(), LeftFactor::rounded, factor, scratch, wrong.view()), Error);
}

// The tile registers are a target of their own: the widest, and no other has them.
TEST(TileTarget, IsTheWidestVectorsWithAnEndingOfItsOwn) {
  const std::vector<std::string> targets = simd_targets();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    force_simd_target(targets[i]);
    EXPECT_EQ(tiles_in_use(), targets[i].ends_with("_AMX"));
    EXPECT_EQ(tiles_in_use(), i == 0 && machine_has_tiles()) << targets[i];
  }
  if (machine_has_tiles()) {
    EXPECT_EQ(targets[0], targets[1] + "_AMX");
  }
  force_simd_target("");
  EXPECT_EQ(tiles_in_use(), machine_has_tiles());
}

}  // namespace
}  // namespace pits
