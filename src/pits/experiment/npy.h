// NumPy's array file format, version 1.0, for C-ordered little-endian matrices of doubles: a header, then row after
// row.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pits {

std::string npy_header(std::size_t rows, std::size_t columns);
// The bytes of a row, where it lies.
std::string_view npy_row(std::span<const double> row);

}  // namespace pits
