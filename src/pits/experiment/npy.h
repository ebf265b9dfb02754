// NumPy's array file format, version 1.0, for arrays of doubles.
#pragma once

#include <string>

#include "pits/core/matrix.h"

namespace pits {

// The bytes of an .npy file that holds `values` as a C-ordered little-endian float64 array.
std::string npy_bytes(ConstMatrixView<double> values);

}  // namespace pits
