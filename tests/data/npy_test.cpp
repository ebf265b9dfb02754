#include "pits/data/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "data/rows_of.h"
#include "experiment/expect_error.h"

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
  feed_in_pieces(reader, bytes, piece);
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

}  // namespace
}  // namespace pits::test
