#include "pits/core/simd/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/core/simd/kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "pits/core/error.h"
#include "pits/core/simd/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {

void AddProduct(Factor<float> a, In b, Out c) { Product(a, b, AddTo{c}); }

// Where B is one row, blocks of eight rows of A: their sums fill the vectors in which lanes are added. The bits are
// those of other blocks.
void AddProductTransposed(In a, In b, Out c) {
  constexpr std::size_t R = 8;
  std::size_t i = 0;
  for (; b.rows() == 1 && i + R <= a.rows(); i += R) DotBlock<R, 1>(a, b, c, i, 0);
  ProductTransposed(a.row_block(i, a.rows() - i), b, c.row_block(i, a.rows() - i));
}

// out(i..i+R−1, j..j+C−1) += the squares of differences over the columns from .. to−1.
template <std::size_t R, std::size_t C>
HWY_INLINE void DistanceBlock(In a, In b, Out out, std::size_t i, std::size_t j, std::size_t from, std::size_t to) {
  const Tag d;
  const std::size_t N = Width();
  Vector sum[R * C + 3];
  HWY_UNROLL(32) for (Vector& s : sum) s = hn::Zero(d);
  const auto add = [&](const auto& load) HWY_ATTR {
    Vector y[C];
    HWY_UNROLL(32) for (std::size_t q = 0; q < C; ++q) y[q] = load(&b(j + q, 0));
    HWY_UNROLL(32) for (std::size_t r = 0; r < R; ++r) {
      const Vector x = load(&a(i + r, 0));
      HWY_UNROLL(32) for (std::size_t q = 0; q < C; ++q) {
        const Vector difference = hn::Sub(x, y[q]);
        sum[r * C + q] = hn::MulAdd(difference, difference, sum[r * C + q]);
      }
    }
  };
  std::size_t l = from;
  for (; l + N <= to; l += N) add([&](const float* row) HWY_ATTR { return hn::LoadU(d, row + l); });
  if (l < to) add([&](const float* row) HWY_ATTR { return LoadFirst(row + l, to - l); });
  float total[R * C + 3];
  HWY_UNROLL(32) for (std::size_t s = 0; s < R * C; s += 4) {
    SumsOfFour(sum[s], sum[s + 1], sum[s + 2], sum[s + 3], total + s);
  }
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t q = 0; q < C; ++q) out(i + r, j + q) += total[r * C + q];
  }
}

constexpr std::size_t kPairRows = kDotRows == 5 ? 4 : 2;

// A block with edges goes pair by pair.
HWY_INLINE void DistanceBlocks(In a, In b, Out out, std::size_t i, std::size_t j, std::size_t from, std::size_t to) {
  if (i + kPairRows <= a.rows() && j + kPairRows <= b.rows()) {
    return DistanceBlock<kPairRows, kPairRows>(a, b, out, i, j, from, to);
  }
  for (std::size_t r = i; r < std::min(i + kPairRows, a.rows()); ++r) {
    for (std::size_t q = j; q < std::min(j + kPairRows, b.rows()); ++q) DistanceBlock<1, 1>(a, b, out, r, q, from, to);
  }
}

// Column chunks keep the rows of many particles in the cache.
void SquaredDistances(In a, In b, Out out) {
  constexpr std::size_t chunk = 1024;
  const bool same = a.data() == b.data() && a.rows() == b.rows() && a.stride() == b.stride();
  for (std::size_t i = 0; i < a.rows(); ++i) std::ranges::fill(out.row(i), 0.0F);
  for (std::size_t from = 0; from < a.cols(); from += chunk) {
    const std::size_t to = std::min(from + chunk, a.cols());
    for (std::size_t i = 0; i < a.rows(); i += kPairRows) {
      for (std::size_t j = same ? i : 0; j < b.rows(); j += kPairRows) DistanceBlocks(a, b, out, i, j, from, to);
    }
  }
  if (!same) return;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < i; ++j) out(i, j) = out(j, i);
  }
}

// Rows i..i+R−1, V vectors of columns from l on: v_i += Σ_j w_ij (a_i − b_j).
template <std::size_t R, std::size_t V, bool whole>
HWY_INLINE void DifferencesBlock(In w, In a, In b, Out v, std::size_t i, std::size_t l, std::size_t count) {
  const Tag d;
  const std::size_t N = Width();
  Vector x[R][V], sum[R][V];
  HWY_UNROLL(32) for (std::size_t r = 0; r < R; ++r) {
    HWY_UNROLL(32) for (std::size_t q = 0; q < V; ++q) {
      x[r][q] = LoadLanes<whole>(&a(i + r, l) + q * N, count);
      sum[r][q] = hn::Zero(d);
    }
  }
  for (std::size_t j = 0; j < b.rows(); ++j) {
    HWY_UNROLL(32) for (std::size_t q = 0; q < V; ++q) {
      const Vector y = LoadLanes<whole>(&b(j, l) + q * N, count);
      HWY_UNROLL(32) for (std::size_t r = 0; r < R; ++r) {
        sum[r][q] = hn::MulAdd(hn::Set(d, w(i + r, j)), hn::Sub(x[r][q], y), sum[r][q]);
      }
    }
  }
  HWY_UNROLL(32) for (std::size_t r = 0; r < R; ++r) {
    HWY_UNROLL(32) for (std::size_t q = 0; q < V; ++q) {
      float* to = &v(i + r, l) + q * N;
      StoreLanes<whole>(hn::Add(LoadLanes<whole>(to, count), sum[r][q]), count, to);
    }
  }
}

template <std::size_t V, bool whole>
HWY_INLINE void DifferencesPanel(In w, In a, In b, Out v, std::size_t l, std::size_t count) {
  constexpr std::size_t R = kDotRows == 5 ? 5 : 3;
  std::size_t i = 0;
  for (; i + R <= a.rows(); i += R) DifferencesBlock<R, V, whole>(w, a, b, v, i, l, count);
  for (; i < a.rows(); ++i) DifferencesBlock<1, V, whole>(w, a, b, v, i, l, count);
}

void AddWeightedDifferences(In w, In a, In b, Out v) {
  constexpr std::size_t V = 2;
  const std::size_t N = Width();
  std::size_t l = 0;
  for (; l + V * N <= a.cols(); l += V * N) DifferencesPanel<V, true>(w, a, b, v, l, N);
  for (; l + N <= a.cols(); l += N) DifferencesPanel<1, true>(w, a, b, v, l, N);
  if (l < a.cols()) DifferencesPanel<1, false>(w, a, b, v, l, a.cols() - l);
}

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pits {

HWY_EXPORT(AddProduct);
HWY_EXPORT(AddProductTransposed);
HWY_EXPORT(SquaredDistances);
HWY_EXPORT(AddWeightedDifferences);

namespace {

void check_shape(bool fits, const char* operation) {
  if (!fits) throw failed("{}: the shapes do not match", operation);
}

template <class T>
void check_product(Factor<T> a, ConstMatrixView<T> b, MatrixView<T> c) {
  check_shape(a.cols == b.rows() && a.rows == c.rows() && b.cols() == c.cols(), "add_product");
}

// All pairs of rows of a and b.
template <class T>
void check_pairs(ConstMatrixView<T> a, ConstMatrixView<T> b, MatrixView<T> pairs, const char* operation) {
  check_shape(a.cols() == b.cols() && a.rows() == pairs.rows() && b.rows() == pairs.cols(), operation);
}

template <class T>
void check_differences(ConstMatrixView<T> w, ConstMatrixView<T> a, ConstMatrixView<T> b, MatrixView<T> v) {
  check_shape(w.rows() == a.rows() && w.cols() == b.rows() && a.cols() == b.cols() && v.rows() == a.rows() &&
                  v.cols() == a.cols(),
              "add_weighted_differences");
}

}  // namespace

void add_product(Factor<float> a, ConstMatrixView<float> b, MatrixView<float> c) {
  check_product(a, b, c);
  HWY_DYNAMIC_DISPATCH(AddProduct)(a, b, c);
}

void add_product(Factor<double> a, ConstMatrixView<double> b, MatrixView<double> c) {
  check_product(a, b, c);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t l = 0; l < a.cols; ++l) {
      const double ail = a.data[i * a.row + l * a.col];
      for (std::size_t j = 0; j < b.cols(); ++j) c(i, j) += ail * b(l, j);
    }
  }
}

void add_product_transposed(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> c) {
  check_pairs(a, b, c, "add_product_transposed");
  HWY_DYNAMIC_DISPATCH(AddProductTransposed)(a, b, c);
}

void add_product_transposed(ConstMatrixView<double> a, ConstMatrixView<double> b, MatrixView<double> c) {
  check_pairs(a, b, c, "add_product_transposed");
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      for (std::size_t l = 0; l < a.cols(); ++l) c(i, j) += a(i, l) * b(j, l);
    }
  }
}

// Blocks of rows, each with the columns from its first row on.
void add_gram(ConstMatrixView<float> a, MatrixView<float> c, Rows rows) {
  check_shape(a.rows() == c.rows() && c.rows() == c.cols(), "add_gram");
  constexpr std::size_t block = 20;
  for (std::size_t first = 0; first < a.rows(); first += block) {
    const std::size_t left = a.rows() - first, skip = rows == Rows::triangular ? first : 0;
    const ConstMatrixView<float> from = a.row_block(first, left).columns(skip, a.cols() - skip);
    const std::size_t count = std::min(block, left);
    add_product_transposed(from.row_block(0, count), from, c.row_block(first, count).columns(first, left));
  }
}

void squared_distances(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> out) {
  check_pairs(a, b, out, "squared_distances");
  HWY_DYNAMIC_DISPATCH(SquaredDistances)(a, b, out);
}

void squared_distances(ConstMatrixView<double> a, ConstMatrixView<double> b, MatrixView<double> out) {
  check_pairs(a, b, out, "squared_distances");
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      double sum = 0.0;
      for (std::size_t l = 0; l < a.cols(); ++l) sum += (a(i, l) - b(j, l)) * (a(i, l) - b(j, l));
      out(i, j) = sum;
    }
  }
}

void add_weighted_differences(ConstMatrixView<float> w, ConstMatrixView<float> a, ConstMatrixView<float> b,
                              MatrixView<float> v) {
  check_differences(w, a, b, v);
  HWY_DYNAMIC_DISPATCH(AddWeightedDifferences)(w, a, b, v);
}

void add_weighted_differences(ConstMatrixView<double> w, ConstMatrixView<double> a, ConstMatrixView<double> b,
                              MatrixView<double> v) {
  check_differences(w, a, b, v);
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      for (std::size_t l = 0; l < a.cols(); ++l) v(i, l) += w(i, j) * (a(i, l) - b(j, l));
    }
  }
}

}  // namespace pits
#endif  // HWY_ONCE
