// NumPy's array files, format versions 1 and 2, piece by piece: C-ordered matrices of little-endian float64 or float32.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pits/core/matrix.h"

namespace pits {

class NpyReader {
 public:
  // `file` names the source in messages.
  explicit NpyReader(std::string file) : file_(std::move(file)) {}

  // Throws where the bytes are no such array or more than its shape needs.
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
