#include "pits/core/matrix.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace pits {
namespace {

static_assert(std::is_convertible_v<MatrixView<float>, ConstMatrixView<float>>);
static_assert(!std::is_convertible_v<ConstMatrixView<float>, MatrixView<float>>);
static_assert(!std::is_convertible_v<MatrixView<double>, ConstMatrixView<float>>);
static_assert(std::is_convertible_v<Matrix<float>&, MatrixView<float>>);
static_assert(std::is_convertible_v<const Matrix<float>&, ConstMatrixView<float>>);
static_assert(!std::is_convertible_v<const Matrix<float>&, MatrixView<float>>);

Matrix<int> counting(std::size_t rows, std::size_t cols) {
  Matrix<int> a(rows, cols);
  for (std::size_t k = 0; k < rows * cols; ++k) a.data()[k] = static_cast<int>(k);
  return a;
}

bool all_zero(const Matrix<float>& a) {
  return std::ranges::all_of(a.flat(), [](float x) { return x == 0.0F; });
}

TEST(Matrix, IsRowMajor) {
  const Matrix<int> a = counting(2, 3);
  EXPECT_EQ(a(0, 2), 2);
  EXPECT_EQ(a(1, 0), 3);
  EXPECT_EQ(a.row(1).size(), 3U);
  EXPECT_EQ(a.row(1)[2], 5);
  EXPECT_EQ(a.flat().size(), 6U);
}

TEST(Matrix, DefaultIsEmpty) {
  const Matrix<float> a;
  EXPECT_EQ(a.size(), 0U);
  EXPECT_EQ(a.rows(), 0U);
  EXPECT_EQ(a.view().cols(), 0U);
}

RC_GTEST_PROP(Matrix, IsZeroWhenMadeAndAlignedToACacheLine, ()) {
  const auto rows = *rc::gen::inRange<std::size_t>(1, 70);
  const auto cols = *rc::gen::inRange<std::size_t>(1, 70);
  const Matrix<float> a(rows, cols);
  RC_ASSERT(a.size() == rows * cols);
  RC_ASSERT(all_zero(a));
  RC_ASSERT(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
}

RC_GTEST_PROP(Matrix, ReshapeLeavesZerosOfTheNewShape, ()) {
  const auto size = rc::gen::inRange<std::size_t>(0, 20);
  const auto [rows, cols, new_rows, new_cols] = *rc::gen::tuple(size, size, size, size);
  Matrix<float> a(rows, cols);
  std::ranges::fill(a.flat(), 1.0F);
  a.reshape(new_rows, new_cols);
  RC_ASSERT(a.rows() == new_rows);
  RC_ASSERT(a.cols() == new_cols);
  RC_ASSERT(a.size() == new_rows * new_cols);
  RC_ASSERT(all_zero(a));
}

TEST(Matrix, ReshapeKeepsMemoryThatSuffices) {
  Matrix<float> a(6, 5);
  const float* before = a.data();
  a.reshape(5, 4);
  EXPECT_EQ(a.data(), before);
}

TEST(Matrix, CopiesOwnTheirNumbers) {
  Matrix<int> a = counting(2, 2);
  const Matrix<int> copy = a;
  a(0, 0) = 9;
  EXPECT_EQ(copy(0, 0), 0);
}

TEST(MatrixView, WritesThroughToTheOwner) {
  Matrix<int> a = counting(2, 3);
  const MatrixView<int> view = a;
  view(1, 1) = 40;
  view.row(0)[2] = 20;
  view.flat()[0] = 10;
  EXPECT_EQ(a(1, 1), 40);
  EXPECT_EQ(a(0, 2), 20);
  EXPECT_EQ(a(0, 0), 10);
}

TEST(MatrixView, ReadOnlyViewSeesTheSameNumbersAndShape) {
  Matrix<int> a = counting(3, 2);
  const MatrixView<int> writable = a.view().columns(1, 1);
  const ConstMatrixView<int> view = writable;
  EXPECT_EQ(view.data(), a.data() + 1);
  EXPECT_EQ(view.rows(), 3U);
  EXPECT_EQ(view.cols(), 1U);
  EXPECT_EQ(view.stride(), 2U);
  writable(2, 0) = 50;
  EXPECT_EQ(view(2, 0), 50);
}

TEST(MatrixView, ColumnsOfColumnsAreColumnsOfTheWhole) {
  Matrix<int> a = counting(3, 7);
  const MatrixView<int> inner = a.view().columns(1, 5).columns(2, 3);
  EXPECT_EQ(inner.size(), 9U);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(inner.row(i).size(), 3U);
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(inner(i, j), static_cast<int>(7 * i + j + 3));
      EXPECT_EQ(inner.row(i)[j], inner(i, j));
    }
  }
}

TEST(PaddedMatrix, WideRowsStartAnOddNumberOfCacheLinesApart) {
  for (const std::size_t cols : {64U, 65U, 127U, 128U, 512U, 1000U}) {
    PaddedMatrix<float> a(3, cols);
    const std::size_t stride = a.view().stride();
    EXPECT_GE(stride, cols);
    EXPECT_EQ(stride % 32, 16U) << cols;
    a(2, cols - 1) = 7.0F;
    EXPECT_EQ(a.row(2)[cols - 1], 7.0F);
    EXPECT_EQ(&a(1, 0) - &a(0, 0), static_cast<std::ptrdiff_t>(stride));
  }
  EXPECT_EQ(PaddedMatrix<float>(5, 1).view().stride(), 1U);  // a column of numbers lies in one piece
}

}  // namespace
}  // namespace pits
