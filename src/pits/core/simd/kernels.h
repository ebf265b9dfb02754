// The few dense loops that all particle work reduces to. The float versions are Highway kernels that pick the
// widest SIMD target of the machine at run time; the double versions are plain loops, for exact work and tests.
// All matrices are row-major; outputs never overlap inputs. Every sum runs in an order fixed by the shape and the SIMD
// target.
#pragma once

#include <string>
#include <vector>

#include "pits/core/matrix.h"

namespace pits {

// A left factor that may be read transposed: element (i,l) is data[i·row + l·col].
template <class T>
struct Factor {
  const T* data;
  std::size_t rows;
  std::size_t cols;
  std::size_t row;
  std::size_t col;
};

template <class T>
Factor<T> plain(ConstMatrixView<T> a) {
  return {a.data(), a.rows(), a.cols(), a.stride(), 1};
}
template <class T>
Factor<T> transposed(ConstMatrixView<T> a) {
  return {a.data(), a.cols(), a.rows(), 1, a.stride()};
}

// C(m,n) += A(m,k) · B(k,n); lanes run along n.
void add_product(Factor<float> a, ConstMatrixView<float> b, MatrixView<float> c);
void add_product(Factor<double> a, ConstMatrixView<double> b, MatrixView<double> c);

// C(m,p) += A(m,n) · B(p,n)ᵀ; lanes run along n, the summed index.
void add_product_transposed(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> c);
void add_product_transposed(ConstMatrixView<double> a, ConstMatrixView<double> b, MatrixView<double> c);

// C(m,m) += A(m,n) · Aᵀ: its upper triangle; what is below the diagonal is not to be read. `triangular`: A(i,l) = 0 for
// l < i.
enum class Rows { full, triangular };
void add_gram(ConstMatrixView<float> a, MatrixView<float> c, Rows rows = Rows::full);

// out(i,j) = ‖a_i − b_j‖², by differences: no cancellation between near rows.
void squared_distances(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> out);
void squared_distances(ConstMatrixView<double> a, ConstMatrixView<double> b, MatrixView<double> out);

// v_i += Σ_j w_ij (a_i − b_j): exactly zero between equal rows.
void add_weighted_differences(ConstMatrixView<float> w, ConstMatrixView<float> a, ConstMatrixView<float> b,
                              MatrixView<float> v);
void add_weighted_differences(ConstMatrixView<double> w, ConstMatrixView<double> a, ConstMatrixView<double> b,
                              MatrixView<double> v);

// The SIMD target in use ("AVX3", "AVX2", ..., "AVX3_AMX" with tile registers), recorded in run directories; results
// have the same bits for the same target only.
std::string simd_target();
// Whether it has tile registers (core/simd/tiles.h).
bool tiles_in_use();
// Targets this machine can run, widest first.
std::vector<std::string> simd_targets();
// Forces one target by name; empty lifts the force. From one thread at a time; any may ask for the names meanwhile.
void force_simd_target(const std::string& name);
// The one that the variable PITS_SIMD names, where it is set.
void force_simd_target_of_environment();

}  // namespace pits
