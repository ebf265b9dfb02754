#include "pits/experiment/npy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "experiment/scratch.h"
#include "pits/core/matrix.h"

namespace pits {
namespace {

Matrix<double> example() {
  Matrix<double> m(2, 3);
  const double values[] = {0.1, -2.5e300, std::numeric_limits<double>::quiet_NaN(), 0.0, 5e-324, -0.0};
  std::memcpy(m.data(), values, sizeof values);
  return m;
}

std::string npy_bytes(const Matrix<double>& m) {
  std::string bytes = npy_header(m.rows(), m.cols());
  for (std::size_t i = 0; i < m.rows(); ++i) bytes += npy_row(m.row(i));
  return bytes;
}

// The parts of a version 1.0 file, read as numpy/lib/format.py describes it.
struct Parts {
  std::string header;
  std::string data;
};

Parts parts_of(const std::string& bytes) {
  EXPECT_EQ(bytes.substr(0, 6), "\x93NUMPY");
  EXPECT_EQ(bytes.substr(6, 2), std::string("\x01\x00", 2));
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes.at(i))); };
  const std::size_t length = byte(8) + 256 * byte(9);
  EXPECT_EQ((10 + length) % 64, 0U) << "the data must start at a multiple of 64";
  return {.header = bytes.substr(10, length), .data = bytes.substr(10 + length)};
}

TEST(Npy, FollowsTheFormatToTheByte) {
  const Matrix<double> m = example();
  const Parts parts = parts_of(npy_bytes(m));
  const std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(parts.header.substr(0, dictionary.size()), dictionary);
  EXPECT_EQ(parts.header.find_first_not_of(' ', dictionary.size()), parts.header.size() - 1);
  EXPECT_EQ(parts.header.back(), '\n');
  ASSERT_EQ(parts.data.size(), 6 * sizeof(double));
  EXPECT_EQ(std::memcmp(parts.data.data(), m.data(), parts.data.size()), 0);
}

TEST(Npy, HoldsManyRowsAndNone) {
  const Parts many = parts_of(npy_bytes(Matrix<double>(123456, 7)));
  EXPECT_NE(many.header.find("(123456, 7)"), std::string::npos);
  EXPECT_EQ(many.data.size(), 123456U * 7 * 8);
  const Parts none = parts_of(npy_bytes(Matrix<double>(0, 4)));
  EXPECT_NE(none.header.find("(0, 4)"), std::string::npos);
  EXPECT_TRUE(none.data.empty());
}

TEST(Npy, IsWhatNumpyLoads) {
  if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) GTEST_SKIP() << "no numpy";
  const test::Scratch scratch;
  test::write_bytes(scratch / "a.npy", npy_bytes(example()));
  test::write_bytes(scratch / "check.py",
                    "import sys, numpy as np\n"
                    "a = np.load(sys.argv[1])\n"
                    "e = np.array([[0.1, -2.5e300, np.nan], [0.0, 5e-324, -0.0]])\n"
                    "assert a.dtype == np.float64 and a.shape == (2, 3) and a.flags.c_contiguous\n"
                    "assert np.array_equal(a, e, equal_nan=True) and np.signbit(a[1, 2])\n");
  const std::string command =
      "/usr/bin/python3 '" + (scratch / "check.py").string() + "' '" + (scratch / "a.npy").string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace pits
