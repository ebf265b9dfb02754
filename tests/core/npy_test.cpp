#include "pits/core/io/npy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"

namespace pits::test {
namespace {

// The format as NumPy's documentation has it: magic, version, length of the header (2 or 4 bytes), header, values.
std::string array_file(const std::string& header, const std::string& values, char version = 1) {
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  if (version == 2) bytes += std::string(2, '\0');
  return bytes + header + values;
}

template <class T>
std::string bytes_of_values(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

const std::string f8 = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }  \n";
const std::string six = bytes_of_values<double>({1.0, -2.5, 1e-3, 4.0, 5.0, 6.0});

Matrix<double> read(const std::string& bytes, std::size_t piece = 1 << 20) {
  NpyReader reader("a.npy");
  for (std::size_t i = 0; i < bytes.size(); i += piece) reader.feed(std::string_view(bytes).substr(i, piece));
  return std::move(reader).finish();
}

std::string error_of(const std::string& bytes) {
  return message_of([&] { read(bytes); });
}

TEST(Npy, ReadsDoublesInPiecesOfAnySize) {
  const std::string bytes = array_file(f8, six);
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Matrix<double> values = read(bytes, piece);
    ASSERT_EQ(values.rows(), 2U);
    ASSERT_EQ(values.cols(), 3U);
    EXPECT_EQ(values(0, 1), -2.5);
    EXPECT_EQ(values(0, 2), 1e-3);
    EXPECT_EQ(values(1, 0), 4.0);
    EXPECT_EQ(values(1, 2), 6.0);
  }
}

TEST(Npy, ReadsFloatsAndVersionTwo) {
  const std::string header = "{'shape': (1,2), 'fortran_order': False, 'descr': '<f4'}\n";
  const Matrix<double> values = read(array_file(header, bytes_of_values<float>({0.5F, -3.0F}), 2));
  EXPECT_EQ(values(0, 0), 0.5);
  EXPECT_EQ(values(0, 1), -3.0);
}

TEST(Npy, RefusesWhatItCannotRead) {
  const auto with = [](std::string from, std::string to) {
    std::string header = f8;
    header.replace(header.find(from), from.size(), to);
    return array_file(header, six);
  };
  expect_mentions(error_of(with("<f8", "<i8")), {"'a.npy'", "'<i8'", "'<f8' or '<f4'"});
  expect_mentions(error_of(with("<f8", ">f8")), {"'>f8'"});
  expect_mentions(error_of(with("False", "True")), {"'a.npy'", "Fortran order"});
  expect_mentions(error_of(with("(2, 3)", "(6,)")), {"'a.npy'", "shape is (6,)"});
  expect_mentions(error_of(with("(2, 3)", "(2, 3, 1)")), {"shape"});
  expect_mentions(error_of(with("(2, 3)", "(0, 3)")), {"shape"});
  expect_mentions(error_of(with("(2, 3)", "(2, x)")), {"shape"});
  expect_mentions(error_of(with("(2, 3)", "(99999999999, 99999999999)")), {"shape"});
  expect_mentions(error_of(with("(2, 3)", "(2, 2)")), {"more bytes", "(2, 2)"});
  expect_mentions(error_of(with("(2, 3)", "(2, 4)")), {"6 numbers", "(2, 4)"});
  expect_mentions(error_of(array_file(f8, six.substr(0, 45))), {"5 numbers and a part of one"});
  expect_mentions(error_of(array_file(f8, six, 3)), {"version 1 or 2"});
  expect_mentions(error_of("PK\x03\x04 something else"), {"'a.npy'", "not a NumPy array file"});
  expect_mentions(error_of(""), {"ends within its header"});
  expect_mentions(error_of(array_file(f8, six).substr(0, 30)), {"ends within its header"});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_mentions(error_of(array_file(f8, bytes_of_values<double>({1, 2, nan, 4, 5, 6}))), {"not finite"});
}

// Writing.
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
  const Scratch scratch;
  write_bytes(scratch / "a.npy", npy_bytes(example()));
  write_bytes(scratch / "check.py",
              "import sys, numpy as np\n"
              "a = np.load(sys.argv[1])\n"
              "e = np.array([[0.1, -2.5e300, np.nan], [0.0, 5e-324, -0.0]])\n"
              "assert a.dtype == np.float64 and a.shape == (2, 3) and a.flags.c_contiguous\n"
              "assert np.array_equal(a, e, equal_nan=True) and np.signbit(a[1, 2])\n");
  const std::string command =
      "/usr/bin/python3 '" + (scratch / "check.py").string() + "' '" + (scratch / "a.npy").string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

// The writer and the reader agree, whatever the pieces.
TEST(Npy, ReadsWhatItWrites) {
  Matrix<double> m(3, 2);
  for (std::size_t i = 0; i < 6; ++i)
    m.data()[i] = std::ldexp(1.0 + static_cast<double>(i), 40 - 17 * static_cast<int>(i));
  const Matrix<double> again = read(npy_bytes(m), 5);
  ASSERT_EQ(again.rows(), 3U);
  ASSERT_EQ(again.cols(), 2U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(again.data()[i], m.data()[i]);
}

}  // namespace
}  // namespace pits::test
