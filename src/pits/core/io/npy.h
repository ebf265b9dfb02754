// NumPy's array files: C-ordered matrices of little-endian numbers. Written are version 1.0 and float64; read are
// versions 1 and 2, and float64 or float32, piece by piece.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pits/core/matrix.h"

namespace pits {

// A file is the header, then the bytes of every row.
std::string npy_header(std::size_t rows, std::size_t columns);
std::string_view npy_row(std::span<const double> row);  // a view of the row itself

class NpyReader {
 public:
  // `file` names the source in messages.
  explicit NpyReader(std::string file) : file_(std::move(file)) {}

  // Throws where the bytes are not such an array, or more than its shape needs.
  void feed(std::string_view piece);
  // The whole matrix; throws where bytes are missing or a number is not finite.
  Matrix<double> finish() &&;

 private:
  bool read_header();  // true once it was complete
  void read_values(std::string_view piece);

  std::string file_;
  std::string pending_;  // the header, then the bytes of a value whose end has not come yet
  bool has_header_ = false;
  std::size_t item_size_ = 0;
  std::size_t rows_ = 0, cols_ = 0;
  std::vector<double> values_;  // grows with the bytes that come: a header alone may claim any shape
};

}  // namespace pits
