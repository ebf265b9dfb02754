#include "pits/experiment/npy.h"

#include <fmt/format.h>

#include <bit>

namespace pits {

std::string npy_bytes(ConstMatrixView<double> values) {
  static_assert(std::endian::native == std::endian::little);
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", values.rows(), values.cols());
  constexpr std::size_t preamble = 10;  // magic, version, length of the header
  const std::size_t padded = (preamble + header.size() + 1 + 63) / 64 * 64 - preamble;
  header.resize(padded - 1, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  for (std::size_t i = 0; i < values.rows(); ++i) {
    bytes.append(reinterpret_cast<const char*>(values.row(i).data()), values.cols() * sizeof(double));
  }
  return bytes;
}

}  // namespace pits
