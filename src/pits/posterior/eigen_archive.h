// Eigen's vectors, matrices and Cholesky factors in an Archive.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cstdint>
#include <limits>

#include "pits/core/io/archive.h"

namespace pits {

template <int Rows, int Cols>
void state(Archive& archive, Eigen::Matrix<double, Rows, Cols>& values) {
  const auto [rows, cols] = archive.shape(
      {static_cast<std::uint64_t>(values.rows()), static_cast<std::uint64_t>(values.cols())}, sizeof(double));
  if (archive.reading()) {
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    if (rows > most || cols > most) throw bad_input("the saved state has a matrix of {} by {}", rows, cols);
    check_saved_shape(static_cast<std::size_t>(values.rows()), static_cast<std::size_t>(values.cols()), rows, cols);
    if (Cols != Eigen::Dynamic && cols != static_cast<std::uint64_t>(Cols)) check_saved_shape(1, Cols, 1, cols);
    values.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
  }
  archive.raw(values.data(), static_cast<std::size_t>(values.size()) * sizeof(double));
}

// The factor itself, whose last bits the factorised matrix would not give back after rank-one updates. Eigen has no
// way to set it: what a factorisation of the same size has put there is overwritten.
inline void state(Archive& archive, Eigen::LLT<Eigen::MatrixXd>& cholesky) {
  archive(const_cast<Eigen::MatrixXd&>(cholesky.matrixLLT()));
}

}  // namespace pits
