#include "pits/core/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/core/kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/highway.h>

#include "pits/core/error.h"

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;
using In = ConstMatrixView<float>;
using Out = MatrixView<float>;

HWY_INLINE std::size_t Width() { return hn::Lanes(Tag()); }
HWY_INLINE float Sum(Vector v) { return hn::GetLane(hn::SumOfLanes(Tag(), v)); }

// The first `count` < N lanes from memory, the rest zero, and back. Below AVX2 Highway's masked load and store touch
// the whole vector, so the numbers take the way over a buffer there.
HWY_INLINE Vector LoadFirst(const float* from, std::size_t count) {
  const Tag d;
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN float buffer[hn::MaxLanes(Tag())] = {};
  for (std::size_t i = 0; i < count; ++i) buffer[i] = from[i];
  return hn::Load(d, buffer);
#endif
}

HWY_INLINE void StoreFirst(Vector v, std::size_t count, float* to) {
  const Tag d;
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN float buffer[hn::MaxLanes(Tag())];
  hn::Store(v, d, buffer);
  for (std::size_t i = 0; i < count; ++i) to[i] = buffer[i];
#endif
}

HWY_INLINE void AddTo(Vector v, float* to) { hn::StoreU(hn::Add(hn::LoadU(Tag(), to), v), Tag(), to); }

// Rows i..i+3, columns j..j+2N−1 of C += A·B: eight accumulators hide the latency of the multiply-add.
HWY_INLINE void ProductBlock4x2(const Factor<float>& a, In b, Out c, std::size_t i, std::size_t j) {
  const Tag d;
  const std::size_t N = Width();
  Vector c00 = hn::Zero(d), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00, c30 = c00, c31 = c00;
  const float* al = a.data + i * a.row;
  const float* bl = b.data() + j;
  for (std::size_t l = 0; l < a.cols; ++l, al += a.col, bl += b.stride()) {
    const Vector b0 = hn::LoadU(d, bl);
    const Vector b1 = hn::LoadU(d, bl + N);
    const Vector a0 = hn::Set(d, al[0]);
    const Vector a1 = hn::Set(d, al[a.row]);
    const Vector a2 = hn::Set(d, al[2 * a.row]);
    const Vector a3 = hn::Set(d, al[3 * a.row]);
    c00 = hn::MulAdd(a0, b0, c00);
    c01 = hn::MulAdd(a0, b1, c01);
    c10 = hn::MulAdd(a1, b0, c10);
    c11 = hn::MulAdd(a1, b1, c11);
    c20 = hn::MulAdd(a2, b0, c20);
    c21 = hn::MulAdd(a2, b1, c21);
    c30 = hn::MulAdd(a3, b0, c30);
    c31 = hn::MulAdd(a3, b1, c31);
  }
  AddTo(c00, &c(i, j));
  AddTo(c01, &c(i, j) + N);
  AddTo(c10, &c(i + 1, j));
  AddTo(c11, &c(i + 1, j) + N);
  AddTo(c20, &c(i + 2, j));
  AddTo(c21, &c(i + 2, j) + N);
  AddTo(c30, &c(i + 3, j));
  AddTo(c31, &c(i + 3, j) + N);
}

// One row, N columns.
HWY_INLINE void ProductBlock1x1(const Factor<float>& a, In b, Out c, std::size_t i, std::size_t j) {
  const Tag d;
  Vector sum = hn::Zero(d);
  for (std::size_t l = 0; l < a.cols; ++l) {
    sum = hn::MulAdd(hn::Set(d, a.data[i * a.row + l * a.col]), hn::LoadU(d, &b(l, j)), sum);
  }
  AddTo(sum, &c(i, j));
}

// One row, the last `count` < N columns.
HWY_INLINE void ProductEdge(const Factor<float>& a, In b, Out c, std::size_t i, std::size_t j, std::size_t count) {
  const Tag d;
  Vector sum = hn::Zero(d);
  for (std::size_t l = 0; l < a.cols; ++l) {
    sum = hn::MulAdd(hn::Set(d, a.data[i * a.row + l * a.col]), LoadFirst(&b(l, j), count), sum);
  }
  StoreFirst(hn::Add(LoadFirst(&c(i, j), count), sum), count, &c(i, j));
}

void AddProduct(Factor<float> a, In b, Out c) {
  const std::size_t N = Width();
  const std::size_t n = b.cols();
  std::size_t j = 0;
  for (; j + 2 * N <= n; j += 2 * N) {
    std::size_t i = 0;
    for (; i + 4 <= a.rows; i += 4) ProductBlock4x2(a, b, c, i, j);
    for (; i < a.rows; ++i) {
      ProductBlock1x1(a, b, c, i, j);
      ProductBlock1x1(a, b, c, i, j + N);
    }
  }
  for (; j + N <= n; j += N) {
    for (std::size_t i = 0; i < a.rows; ++i) ProductBlock1x1(a, b, c, i, j);
  }
  if (j == n) return;
  for (std::size_t i = 0; i < a.rows; ++i) ProductEdge(a, b, c, i, j, n - j);
}

HWY_INLINE float Dot(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t n) {
  const Tag d;
  const std::size_t N = Width();
  Vector sum = hn::Zero(d);
  std::size_t l = 0;
  for (; l + N <= n; l += N) sum = hn::MulAdd(hn::LoadU(d, a + l), hn::LoadU(d, b + l), sum);
  if (l < n) sum = hn::MulAdd(LoadFirst(a + l, n - l), LoadFirst(b + l, n - l), sum);
  return Sum(sum);
}

// Rows i..i+3 of A against rows j, j+1 of B over the first n columns, n a multiple of N.
HWY_INLINE void DotBlock4x2(In a, In b, Out c, std::size_t i, std::size_t j, std::size_t n) {
  const Tag d;
  const std::size_t N = Width();
  Vector c00 = hn::Zero(d), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00, c30 = c00, c31 = c00;
  for (std::size_t l = 0; l < n; l += N) {
    const Vector b0 = hn::LoadU(d, &b(j, l));
    const Vector b1 = hn::LoadU(d, &b(j + 1, l));
    const Vector a0 = hn::LoadU(d, &a(i, l));
    const Vector a1 = hn::LoadU(d, &a(i + 1, l));
    const Vector a2 = hn::LoadU(d, &a(i + 2, l));
    const Vector a3 = hn::LoadU(d, &a(i + 3, l));
    c00 = hn::MulAdd(a0, b0, c00);
    c01 = hn::MulAdd(a0, b1, c01);
    c10 = hn::MulAdd(a1, b0, c10);
    c11 = hn::MulAdd(a1, b1, c11);
    c20 = hn::MulAdd(a2, b0, c20);
    c21 = hn::MulAdd(a2, b1, c21);
    c30 = hn::MulAdd(a3, b0, c30);
    c31 = hn::MulAdd(a3, b1, c31);
  }
  c(i, j) += Sum(c00);
  c(i, j + 1) += Sum(c01);
  c(i + 1, j) += Sum(c10);
  c(i + 1, j + 1) += Sum(c11);
  c(i + 2, j) += Sum(c20);
  c(i + 2, j + 1) += Sum(c21);
  c(i + 3, j) += Sum(c30);
  c(i + 3, j + 1) += Sum(c31);
}

void AddProductTransposed(In a, In b, Out c) {
  const std::size_t n = a.cols();
  const std::size_t whole = n - n % Width();
  const std::size_t blocked_rows = a.rows() - a.rows() % 4;
  const std::size_t blocked_cols = b.rows() - b.rows() % 2;
  for (std::size_t i = 0; i < blocked_rows; i += 4) {
    for (std::size_t j = 0; j < blocked_cols; j += 2) DotBlock4x2(a, b, c, i, j, whole);
  }
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      const std::size_t from = i < blocked_rows && j < blocked_cols ? whole : 0;
      if (from < n) c(i, j) += Dot(&a(i, 0) + from, &b(j, 0) + from, n - from);
    }
  }
}

HWY_INLINE float SquaredDistance(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t n) {
  const Tag d;
  const std::size_t N = Width();
  Vector even = hn::Zero(d), odd = even;
  std::size_t l = 0;
  for (; l + 2 * N <= n; l += 2 * N) {
    const Vector x = hn::Sub(hn::LoadU(d, a + l), hn::LoadU(d, b + l));
    const Vector y = hn::Sub(hn::LoadU(d, a + l + N), hn::LoadU(d, b + l + N));
    even = hn::MulAdd(x, x, even);
    odd = hn::MulAdd(y, y, odd);
  }
  for (; l + N <= n; l += N) {
    const Vector x = hn::Sub(hn::LoadU(d, a + l), hn::LoadU(d, b + l));
    even = hn::MulAdd(x, x, even);
  }
  if (l < n) {
    const Vector x = hn::Sub(LoadFirst(a + l, n - l), LoadFirst(b + l, n - l));
    odd = hn::MulAdd(x, x, odd);
  }
  return Sum(hn::Add(even, odd));
}

void SquaredDistances(In a, In b, Out out) {
  const bool same = a.data() == b.data() && a.rows() == b.rows() && a.stride() == b.stride();
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = same ? i : 0; j < b.rows(); ++j) {
      out(i, j) = SquaredDistance(&a(i, 0), &b(j, 0), a.cols());
      if (same) out(j, i) = out(i, j);
    }
  }
}

// Σ_j w_ij (a_i − b_j) for the vector of columns that starts at l.
template <bool whole>
HWY_INLINE void DifferencesAt(In w, In a, In b, Out v, std::size_t i, std::size_t l) {
  const Tag d;
  const std::size_t count = a.cols() - l;
  const auto load = [count](const float* from)
                        HWY_ATTR { return whole ? hn::LoadU(Tag(), from) : LoadFirst(from, count); };
  const Vector ai = load(&a(i, l));
  Vector even = hn::Zero(d), odd = even;
  std::size_t j = 0;
  for (; j + 2 <= b.rows(); j += 2) {
    even = hn::MulAdd(hn::Set(d, w(i, j)), hn::Sub(ai, load(&b(j, l))), even);
    odd = hn::MulAdd(hn::Set(d, w(i, j + 1)), hn::Sub(ai, load(&b(j + 1, l))), odd);
  }
  if (j < b.rows()) even = hn::MulAdd(hn::Set(d, w(i, j)), hn::Sub(ai, load(&b(j, l))), even);
  const Vector sum = hn::Add(load(&v(i, l)), hn::Add(even, odd));
  if (whole) {
    hn::StoreU(sum, d, &v(i, l));
  } else {
    StoreFirst(sum, count, &v(i, l));
  }
}

void AddWeightedDifferences(In w, In a, In b, Out v) {
  const std::size_t N = Width();
  for (std::size_t l = 0; l < a.cols(); l += N) {
    for (std::size_t i = 0; i < a.rows(); ++i) {
      if (l + N <= a.cols()) {
        DifferencesAt<true>(w, a, b, v, i, l);
      } else {
        DifferencesAt<false>(w, a, b, v, i, l);
      }
    }
  }
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

namespace detail {

void add_product(Factor<float> a, ConstMatrixView<float> b, MatrixView<float> c) {
  HWY_DYNAMIC_DISPATCH(AddProduct)(a, b, c);
}

void add_product_transposed(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> c) {
  HWY_DYNAMIC_DISPATCH(AddProductTransposed)(a, b, c);
}

void squared_distances(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> out) {
  HWY_DYNAMIC_DISPATCH(SquaredDistances)(a, b, out);
}

void add_weighted_differences(ConstMatrixView<float> w, ConstMatrixView<float> a, ConstMatrixView<float> b,
                              MatrixView<float> v) {
  HWY_DYNAMIC_DISPATCH(AddWeightedDifferences)(w, a, b, v);
}

}  // namespace detail
}  // namespace pits
#endif  // HWY_ONCE
