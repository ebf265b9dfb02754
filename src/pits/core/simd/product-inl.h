// Matrix products by register blocks, for the Highway kernels that include this file once for every SIMD target.
// What becomes of a finished sum is the caller's: added to C, or biased, activated and stored.
#if defined(PITS_CORE_PRODUCT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PITS_CORE_PRODUCT_INL_H
#undef PITS_CORE_PRODUCT_INL_H
#else
#define PITS_CORE_PRODUCT_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "pits/core/simd/kernels.h"

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

// Rows of a panel that leave room in an L1 cache of 32 KiB or more.
constexpr std::size_t kPanelRows = 112;

// Blocks fill the registers: 32 of them from AVX-512 on, 16 before.
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t kBlockRows = 5, kBlockVectors = 4, kDotRows = 5;
#else
constexpr std::size_t kBlockRows = 5, kBlockVectors = 2, kDotRows = 3;
#endif

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

// A vector of N numbers, or of the last `count` of a row.
template <bool whole>
HWY_INLINE Vector LoadLanes(const float* from, std::size_t count) {
  if constexpr (whole) return hn::LoadU(Tag(), from);
  return LoadFirst(from, count);
}

template <bool whole>
HWY_INLINE void StoreLanes(Vector v, std::size_t count, float* to) {
  if constexpr (whole) {
    hn::StoreU(v, Tag(), to);
  } else {
    StoreFirst(v, count, to);
  }
}

// Rows i..i+R−1 and V vectors of columns from j on of A·B, over the summed indices `from` .. `to`−1. Sums begin at
// zero or at finish.out, are kept there while they are not whole, and then go to finish.Put.
template <std::size_t R, std::size_t V, bool whole, class Finish>
HWY_INLINE void ProductBlock(const Factor<float>& a, In b, std::size_t i, std::size_t j, std::size_t count,
                             std::size_t from, std::size_t to, const Finish& finish) {
  const Tag d;
  const std::size_t N = Width();
  Vector sum[R][V];
  HWY_UNROLL(32) for (std::size_t r = 0; r < R; ++r) {
    HWY_UNROLL(32) for (std::size_t v = 0; v < V; ++v) {
      const float* kept = &finish.out(i + r, j + v * N);
      sum[r][v] = from == 0 && Finish::from_zero ? hn::Zero(d) : LoadLanes<whole>(kept, count);
    }
  }
  const float* al = a.data + i * a.row + from * a.col;
  const float* bl = b.data() + from * b.stride() + j;
  for (std::size_t l = from; l < to; ++l, al += a.col, bl += b.stride()) {
    Vector x[V];
    HWY_UNROLL(32) for (std::size_t v = 0; v < V; ++v) x[v] = LoadLanes<whole>(bl + v * N, count);
    HWY_UNROLL(32) for (std::size_t r = 0; r < R; ++r) {
      const Vector w = hn::Set(d, al[r * a.row]);
      HWY_UNROLL(32) for (std::size_t v = 0; v < V; ++v) sum[r][v] = hn::MulAdd(w, x[v], sum[r][v]);
    }
  }
  HWY_UNROLL(32) for (std::size_t r = 0; r < R; ++r) {
    HWY_UNROLL(32) for (std::size_t v = 0; v < V; ++v) {
      if (to == a.cols) {
        finish.template Put<whole>(sum[r][v], i + r, j + v * N, count);
      } else {
        StoreLanes<whole>(sum[r][v], count, &finish.out(i + r, j + v * N));
      }
    }
  }
}

// All rows of V vectors of columns.
template <std::size_t V, bool whole, class Finish>
HWY_INLINE void ProductPanel(const Factor<float>& a, In b, std::size_t j, std::size_t count, std::size_t from,
                             std::size_t to, const Finish& finish) {
  std::size_t i = 0;
  for (; i + kBlockRows <= a.rows; i += kBlockRows) {
    ProductBlock<kBlockRows, V, whole>(a, b, i, j, count, from, to, finish);
  }
  switch (a.rows - i) {
    case 1: return ProductBlock<1, V, whole>(a, b, i, j, count, from, to, finish);
    case 2: return ProductBlock<2, V, whole>(a, b, i, j, count, from, to, finish);
    case 3: return ProductBlock<3, V, whole>(a, b, i, j, count, from, to, finish);
    case 4: return ProductBlock<4, V, whole>(a, b, i, j, count, from, to, finish);
    default: return;
  }
}

// Every element of A(m,k)·B(k,n), given to `finish`, whose `out` (m,n) holds sums that are not whole yet; lanes run
// along n. A panel of B, at most kPanelRows × kBlockVectors vectors, stays in the L1 cache over all rows of A.
template <class Finish>
HWY_INLINE void Product(const Factor<float>& a, In b, const Finish& finish) {
  const std::size_t N = Width();
  const std::size_t n = b.cols();
  constexpr std::size_t V = kBlockVectors;
  const std::size_t chunks = a.cols == 0 ? 1 : (a.cols + kPanelRows - 1) / kPanelRows;
  std::size_t j = 0;
  const auto each_chunk = [&](auto panel) HWY_ATTR {
    for (std::size_t c = 0; c < chunks; ++c) panel(a.cols * c / chunks, a.cols * (c + 1) / chunks);
  };
  for (; j + V * N <= n; j += V * N) {
    each_chunk([&](std::size_t from, std::size_t to) HWY_ATTR { ProductPanel<V, true>(a, b, j, N, from, to, finish); });
  }
  for (; j + N <= n; j += N) {
    each_chunk([&](std::size_t from, std::size_t to) HWY_ATTR { ProductPanel<1, true>(a, b, j, N, from, to, finish); });
  }
  if (j < n) {
    each_chunk([&](std::size_t from, std::size_t to)
                   HWY_ATTR { ProductPanel<1, false>(a, b, j, n - j, from, to, finish); });
  }
}

struct AddTo {
  static constexpr bool from_zero = false;
  Out out;
  template <bool whole>
  HWY_INLINE void Put(Vector sum, std::size_t i, std::size_t j, std::size_t count) const {
    StoreLanes<whole>(sum, count, &out(i, j));
  }
};

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void SumsOfFour(Vector a, Vector b, Vector c, Vector e, float* HWY_RESTRICT out) {
  out[0] = Sum(a), out[1] = Sum(b), out[2] = Sum(c), out[3] = Sum(e);
}
#else
// The sum of the 128-bit blocks of v.
template <class D, class V>
HWY_INLINE auto SumOfBlocks(D, V v) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return SumOfBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// The sums of the lanes of four vectors side by side: fewer shuffles than four sums one by one.
HWY_INLINE void SumsOfFour(Vector a, Vector b, Vector c, Vector e, float* HWY_RESTRICT out) {
  const Tag d;
  const hn::Repartition<double, Tag> pairs;
  const auto ab = hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
  const auto ce = hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e)));
  const Vector blocks =
      hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, ab, ce)), hn::BitCast(d, hn::InterleaveUpper(pairs, ab, ce)));
  const auto sums = SumOfBlocks(d, blocks);
  hn::StoreU(sums, hn::DFromV<decltype(sums)>(), out);
}
#endif

// c(i..i+R−1, j..j+C−1) += A·Bᵀ; the summed index runs along lanes.
template <std::size_t R, std::size_t C>
HWY_INLINE void DotBlock(In a, In b, Out c, std::size_t i, std::size_t j) {
  const Tag d;
  const std::size_t N = Width();
  const std::size_t n = a.cols();
  Vector sum[R * C + 3];
  HWY_UNROLL(32) for (std::size_t s = 0; s < R * C + 3; ++s) sum[s] = hn::Zero(d);
  const float* al = &a(i, 0);
  const float* bl = &b(j, 0);
  std::size_t l = 0;
  for (; l + N <= n; l += N) {
    Vector x[C];
    HWY_UNROLL(32) for (std::size_t q = 0; q < C; ++q) x[q] = hn::LoadU(d, bl + q * b.stride() + l);
    HWY_UNROLL(32) for (std::size_t r = 0; r < R; ++r) {
      const Vector y = hn::LoadU(d, al + r * a.stride() + l);
      HWY_UNROLL(32) for (std::size_t q = 0; q < C; ++q) sum[r * C + q] = hn::MulAdd(y, x[q], sum[r * C + q]);
    }
  }
  if (l < n) {
    HWY_UNROLL(32) for (std::size_t r = 0; r < R; ++r) {
      const Vector y = LoadFirst(al + r * a.stride() + l, n - l);
      HWY_UNROLL(32) for (std::size_t q = 0; q < C; ++q) {
        sum[r * C + q] = hn::MulAdd(y, LoadFirst(bl + q * b.stride() + l, n - l), sum[r * C + q]);
      }
    }
  }
  float total[R * C + 3];
  HWY_UNROLL(32) for (std::size_t s = 0; s < R * C; s += 4) {
    SumsOfFour(sum[s], sum[s + 1], sum[s + 2], sum[s + 3], total + s);
  }
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t q = 0; q < C; ++q) c(i + r, j + q) += total[r * C + q];
  }
}

template <std::size_t R>
HWY_INLINE void DotRows(In a, In b, Out c, std::size_t i, std::size_t j, std::size_t cols) {
  switch (cols) {
    case 1: return DotBlock<R, 1>(a, b, c, i, j);
    case 2: return DotBlock<R, 2>(a, b, c, i, j);
    case 3: return DotBlock<R, 3>(a, b, c, i, j);
    case 4: return DotBlock<R, std::min<std::size_t>(4, kDotRows)>(a, b, c, i, j);
    default: return DotBlock<R, kDotRows>(a, b, c, i, j);
  }
}

// A block of any shape up to kDotRows × kDotRows.
HWY_INLINE void DotBlocks(In a, In b, Out c, std::size_t i, std::size_t j, std::size_t rows, std::size_t cols) {
  switch (rows) {
    case 1: return DotRows<1>(a, b, c, i, j, cols);
    case 2: return DotRows<2>(a, b, c, i, j, cols);
    case 3: return DotRows<3>(a, b, c, i, j, cols);
    case 4: return DotRows<std::min<std::size_t>(4, kDotRows)>(a, b, c, i, j, cols);
    default: return DotRows<kDotRows>(a, b, c, i, j, cols);
  }
}

// C(m,p) += A(m,n)·B(p,n)ᵀ. Rows of A that the L1 cache holds meet a block of B's rows while it is there, too.
HWY_INLINE void ProductTransposed(In a, In b, Out c) {
  constexpr std::size_t cached_numbers = 6144;
  const std::size_t blocks = std::max<std::size_t>(1, cached_numbers / (kDotRows * (a.cols() + 1)));
  for (std::size_t first = 0; first < a.rows(); first += blocks * kDotRows) {
    const std::size_t last = std::min(first + blocks * kDotRows, a.rows());
    for (std::size_t j = 0; j < b.rows(); j += kDotRows) {
      for (std::size_t i = first; i < last; i += kDotRows) {
        DotBlocks(a, b, c, i, j, std::min(kDotRows, last - i), std::min(kDotRows, b.rows() - j));
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
