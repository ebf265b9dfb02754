#include "pits/posterior/eigen_archive.h"

#include <gtest/gtest.h>

#include <string>

namespace pits::test {
namespace {

// A file with rows, columns and `numbers` numbers.
std::string file_of(std::uint64_t rows, std::uint64_t cols, std::size_t numbers) {
  Archive file;
  file(rows, cols);
  for (std::size_t i = 0; i < numbers; ++i) {
    auto number = static_cast<double>(i);
    file(number);
  }
  return file.bytes();
}

template <class Values>
bool loads(Values values, std::uint64_t rows, std::uint64_t cols, std::size_t numbers) {
  Archive archive(file_of(rows, cols, numbers));
  try {
    archive(values);
  } catch (const Error&) {
    return false;
  }
  EXPECT_EQ(static_cast<std::uint64_t>(values.rows()), rows);
  EXPECT_EQ(static_cast<std::uint64_t>(values.cols()), cols);
  for (Eigen::Index i = 0; i < values.size(); ++i) EXPECT_EQ(values.data()[i], static_cast<double>(i));
  return true;
}

TEST(EigenArchive, ReadsTheShapeOfTheFileWhereThereIsNone) {
  EXPECT_TRUE(loads(Eigen::MatrixXd(), 2, 3, 6));
  EXPECT_TRUE(loads(Eigen::VectorXd(), 4, 1, 4));
  EXPECT_TRUE(loads(Eigen::MatrixXd(), 0, 0, 0));
}

TEST(EigenArchive, RefusesAnotherShapeThanItHas) {
  EXPECT_TRUE(loads(Eigen::MatrixXd(2, 3), 2, 3, 6));
  EXPECT_FALSE(loads(Eigen::MatrixXd(2, 3), 3, 2, 6));
  EXPECT_FALSE(loads(Eigen::VectorXd(3), 4, 1, 4));
}

// With no columns, any number of rows needs no bytes.
TEST(EigenArchive, RefusesImpossibleSizes) {
  for (const std::uint64_t huge : {std::uint64_t{1} << 31, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    EXPECT_FALSE(loads(Eigen::MatrixXd(), huge, 0, 0)) << huge;
    EXPECT_FALSE(loads(Eigen::MatrixXd(), 0, huge, 0)) << huge;
    EXPECT_FALSE(loads(Eigen::MatrixXd(), huge, 2, 4)) << huge;
  }
}

TEST(EigenArchive, RefusesAVectorOfSeveralColumns) {
  EXPECT_FALSE(loads(Eigen::VectorXd(), 2, 2, 4));
  EXPECT_FALSE(loads(Eigen::VectorXd(), 2, 0, 0));
}

TEST(EigenArchive, RefusesAFileThatEndsEarly) { EXPECT_FALSE(loads(Eigen::MatrixXd(), 2, 3, 5)); }

}  // namespace
}  // namespace pits::test
