#include "pits/core/simd/inverse.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/core/simd/inverse.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;

// to[l] −= Σ_r weights[r] · rows[r][l] for l in from .. n−1.
template <std::size_t R>
HWY_INLINE void SubtractRows(const std::array<double, R>& weights, const std::array<const double*, R>& rows,
                             std::size_t from, std::size_t n, double* to) {
  const Doubles d;
  const std::size_t N = hn::Lanes(d);
  hn::Vec<Doubles> w[R];
  HWY_UNROLL(8) for (std::size_t r = 0; r < R; ++r) w[r] = hn::Set(d, weights[r]);
  std::size_t l = from;
  for (; l + N <= n; l += N) {
    hn::Vec<Doubles> sum = hn::LoadU(d, to + l);
    HWY_UNROLL(8) for (std::size_t r = 0; r < R; ++r) sum = hn::NegMulAdd(w[r], hn::LoadU(d, rows[r] + l), sum);
    hn::StoreU(sum, d, to + l);
  }
  for (; l < n; ++l) {
    for (std::size_t r = 0; r < R; ++r) to[l] -= weights[r] * rows[r][l];
  }
}

template <std::size_t R>
HWY_INLINE std::array<const double*, R> RowsFrom(const double* first, std::size_t stride) {
  std::array<const double*, R> rows;
  for (std::size_t r = 0; r < R; ++r) rows[r] = first + r * stride;
  return rows;
}

// Rows k .. k+R−1, already free of what earlier rows explain, become rows of U; the rows after them lose their part.
template <std::size_t R>
bool FactorRows(MatrixView<double> a, std::size_t k) {
  const std::size_t n = a.rows();
  for (std::size_t r = k; r < k + R; ++r) {
    for (std::size_t q = k; q < r; ++q) SubtractRows<1>({a(q, r)}, {a.row(q).data()}, r, n, a.row(r).data());
    const double pivot = a(r, r);
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    const double scale = 1.0 / std::sqrt(pivot);
    for (std::size_t l = r; l < n; ++l) a(r, l) *= scale;
  }
  const auto rows = RowsFrom<R>(a.row(k).data(), a.stride());
  for (std::size_t i = k + R; i < n; ++i) {
    std::array<double, R> weights;
    for (std::size_t r = 0; r < R; ++r) weights[r] = a(k + r, i);
    SubtractRows<R>(weights, rows, i, n, a.row(i).data());
  }
  return true;
}

constexpr std::size_t kRows = 8;

bool FactorUpper(MatrixView<double> a) {
  std::size_t k = 0;
  for (; k + kRows <= a.rows(); k += kRows) {
    if (!FactorRows<kRows>(a, k)) return false;
  }
  for (; k < a.rows(); ++k) {
    if (!FactorRows<1>(a, k)) return false;
  }
  return true;
}

// Row i of U W = I, from the last one up: W_i = (e_i − Σ_{k>i} U_ik W_k)/U_ii.
void InvertUpper(ConstMatrixView<double> u, MatrixView<double> w) {
  const std::size_t n = u.rows();
  for (std::size_t i = n; i-- > 0;) {
    double* row = w.row(i).data();
    std::fill_n(row, n, 0.0);
    row[i] = 1.0;
    std::size_t k = i + 1;
    for (; k + kRows <= n; k += kRows) {
      std::array<double, kRows> weights;
      for (std::size_t r = 0; r < kRows; ++r) weights[r] = u(i, k + r);
      SubtractRows<kRows>(weights, RowsFrom<kRows>(w.row(k).data(), w.stride()), k, n, row);
    }
    for (; k < n; ++k) SubtractRows<1>({u(i, k)}, {w.row(k).data()}, k, n, row);
    const double scale = 1.0 / u(i, i);
    for (std::size_t l = i; l < n; ++l) row[l] *= scale;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pits {

HWY_EXPORT(FactorUpper);
HWY_EXPORT(InvertUpper);

bool factor_upper(MatrixView<double> a) { return HWY_DYNAMIC_DISPATCH(FactorUpper)(a); }
void invert_upper(ConstMatrixView<double> u, MatrixView<double> w) { HWY_DYNAMIC_DISPATCH(InvertUpper)(u, w); }

}  // namespace pits
#endif  // HWY_ONCE
