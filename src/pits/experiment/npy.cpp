#include "pits/experiment/npy.h"

#include <fmt/format.h>

#include <bit>

namespace pits {

std::string npy_header(std::size_t rows, std::size_t columns) {
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  constexpr std::size_t preamble = 10;  // magic, version, length of the header
  const std::size_t padded = (preamble + header.size() + 1 + 63) / 64 * 64 - preamble;
  header.resize(padded - 1, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header;
}

std::string_view npy_row(std::span<const double> row) {
  static_assert(std::endian::native == std::endian::little);
  return {reinterpret_cast<const char*>(row.data()), row.size_bytes()};
}

}  // namespace pits
