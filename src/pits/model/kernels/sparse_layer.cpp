#include "pits/model/kernels/sparse_layer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/model/kernels/sparse_layer.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "pits/core/error.h"
#include "pits/core/simd/product-inl.h"
#include "pits/model/kernels/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {

using Entries = SparseContexts::Entries;

// out(j,i) = or += a(i,j), four by four.
template <bool add>
void Transpose(In a, Out out) {
#if HWY_TARGET == HWY_SCALAR
  const std::size_t rows = 0, cols = 0;
#else
  const std::size_t rows = a.rows() - a.rows() % 4;
  const std::size_t cols = a.cols() - a.cols() % 4;
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> pairs;
  for (std::size_t i = 0; i < rows; i += 4) {
    for (std::size_t j = 0; j < cols; j += 4) {
      const auto r0 = hn::LoadU(d, &a(i, j)), r1 = hn::LoadU(d, &a(i + 1, j));
      const auto r2 = hn::LoadU(d, &a(i + 2, j)), r3 = hn::LoadU(d, &a(i + 3, j));
      const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
      const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
      const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
      const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
      const auto put = [&](std::size_t q, auto v) HWY_ATTR {
        float* to = &out(j + q, i);
        const auto column = hn::BitCast(d, v);
        hn::StoreU(add ? hn::Add(hn::LoadU(d, to), column) : column, d, to);
      };
      put(0, hn::InterleaveLower(pairs, low01, low23));
      put(1, hn::InterleaveUpper(pairs, low01, low23));
      put(2, hn::InterleaveLower(pairs, high01, high23));
      put(3, hn::InterleaveUpper(pairs, high01, high23));
    }
  }
#endif
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = i < rows ? cols : 0; j < a.cols(); ++j) out(j, i) = add ? out(j, i) + a(i, j) : a(i, j);
  }
}

// Units of a block: two vectors of AVX-512, so that a few hundred columns of weights stay in the L1 cache.
constexpr std::size_t kUnits = 32;
constexpr std::size_t kVectors = kUnits / hn::MaxLanes(Tag());
// Observations whose units are made, then turned into columns while they are in the L1 cache.
constexpr std::size_t kTurned = 16;

HWY_INLINE std::size_t Blocks(std::size_t units) { return (units + kUnits - 1) / kUnits; }

// Lines whose sums grow side by side: with 32 registers two of them hide the latency of the multiply-add.
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t kLines = 2;
#else
constexpr std::size_t kLines = 1;
#endif

// A line's Σ_k value_k rows(other_k, ·) for one block of units; entries of even and of odd number are summed apart.
struct LineSum {
  const std::uint32_t* other;
  const float* value;
  std::size_t entries;
  Vector even[kVectors], odd[kVectors];

  HWY_INLINE void Begin(const Entries& x, std::size_t line) {
    other = x.other.data() + x.start[line];
    value = x.value.data() + x.start[line];
    entries = x.start[line + 1] - x.start[line];
    HWY_UNROLL(32) for (Vector& o : odd) o = hn::Zero(Tag());
  }
  HWY_INLINE void Add(std::size_t k, const float* rows, Vector (&to)[kVectors]) const {
    const Tag d;
    const float* row = rows + other[k] * kUnits;
    const Vector factor = hn::Set(d, value[k]);
    HWY_UNROLL(32) for (std::size_t v = 0; v < kVectors; ++v) {
      to[v] = hn::MulAdd(factor, hn::Load(d, row + v * Width()), to[v]);
    }
  }
  HWY_INLINE void AddPair(std::size_t k, const float* rows) {
    Add(k, rows, even);
    Add(k + 1, rows, odd);
  }
  HWY_INLINE void Finish(std::size_t k, const float* rows) {
    for (; k + 2 <= entries; k += 2) AddPair(k, rows);
    if (k < entries) Add(k, rows, even);
    HWY_UNROLL(32) for (std::size_t v = 0; v < kVectors; ++v) even[v] = hn::Add(even[v], odd[v]);
  }
};

// Every line of x from `first` to `last`−1: begin(line, sum) sets sum.even, end(line, sum) takes it.
template <class BeginLine, class EndLine>
HWY_INLINE void ForLines(const Entries& x, std::size_t first, std::size_t last, const float* rows,
                         const BeginLine& begin, const EndLine& end) {
  std::size_t line = first;
  for (; line + kLines <= last; line += kLines) {
    LineSum sum[kLines];
    HWY_UNROLL(32) for (std::size_t q = 0; q < kLines; ++q) {
      sum[q].Begin(x, line + q);
      begin(line + q, sum[q].even);
    }
    std::size_t k = 0;
    const std::size_t common = std::min(sum[0].entries, sum[kLines - 1].entries);
    for (; k + 2 <= common; k += 2) {
      HWY_UNROLL(32) for (LineSum& s : sum) s.AddPair(k, rows);
    }
    HWY_UNROLL(32) for (std::size_t q = 0; q < kLines; ++q) {
      sum[q].Finish(k, rows);
      end(line + q, sum[q].even);
    }
  }
  for (; line < last; ++line) {
    LineSum sum;
    sum.Begin(x, line);
    begin(line, sum.even);
    sum.Finish(0, rows);
    end(line, sum.even);
  }
}

// units(b−first, ·) = f(bias + Σ value · weights) for the observations first .. last−1 and block u
template <class F>
HWY_INLINE void LayerBlock(const SparseContexts& x, SparseScratch& s, std::size_t first, std::size_t last,
                           std::size_t u) {
  const Tag d;
  const std::size_t N = Width();
  const float* bias = s.bias.data() + u * kUnits;
  ForLines(
      x.by_observation, first, last, s.weights.data(),
      [&](std::size_t, Vector(&sum)[kVectors]) HWY_ATTR {
        HWY_UNROLL(32) for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::LoadU(d, bias + v * N);
      },
      [&](std::size_t b, const Vector(&sum)[kVectors]) HWY_ATTR {
        float* to = &s.units(b - first, 0);
        HWY_UNROLL(32) for (std::size_t v = 0; v < kVectors; ++v) hn::Store(F::value(sum[v]), d, to + v * N);
      });
}

// gradient(l, ·) = base_l · sums + Σ value · deltas for block u; the sums lie in s.bias.
HWY_INLINE void GradientBlock(const SparseContexts& x, SparseScratch& s, std::size_t u) {
  const Tag d;
  const std::size_t N = Width();
  const float* sums = s.bias.data() + u * kUnits;
  ForLines(
      x.by_column, 0, x.columns(), s.units.data(),
      [&](std::size_t l, Vector(&sum)[kVectors]) HWY_ATTR {
        const Vector base = hn::Set(d, x.base[l]);
        HWY_UNROLL(32) for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::Mul(base, hn::LoadU(d, sums + v * N));
      },
      [&](std::size_t l, const Vector(&sum)[kVectors]) HWY_ATTR {
        HWY_UNROLL(32) for (std::size_t v = 0; v < kVectors; ++v) hn::Store(sum[v], d, &s.gradient(l, v * N));
      });
}

HWY_INLINE void Shape(Matrix<float>& m, std::size_t rows) {
  if (m.rows() != rows) m.reshape(rows, kUnits);
}

// The rows of a (H,·) matrix that belong to the units of block u.
template <class T>
HWY_INLINE MatrixView<T> RowsOf(MatrixView<T> a, std::size_t u) {
  return a.row_block(u * kUnits, std::min(kUnits, a.rows() - u * kUnits));
}

HWY_INLINE void SetBias(const float* b, std::size_t H, SparseScratch& s) {
  s.bias.assign(Blocks(H) * kUnits, 0.0F);
  for (std::size_t i = 0; i < H; ++i) s.bias[i] = b[i];
}

void SparseLayer(Activation f, In weights, const float* b, const SparseContexts& x, SparseScratch& s, Out out) {
  const std::size_t d = x.columns();
  Shape(s.weights, d);
  Shape(s.units, std::max(s.units.rows(), kTurned));
  SetBias(b, weights.rows(), s);
  ProductTransposed(weights, {x.base.data(), 1, d}, {s.bias.data(), weights.rows(), 1});
  for (std::size_t u = 0; u < Blocks(weights.rows()); ++u) {
    const In rows = RowsOf(weights, u);
    Transpose<false>(rows, {s.weights.data(), d, rows.rows(), kUnits});
    for (std::size_t first = 0; first < x.observations(); first += kTurned) {
      const std::size_t last = std::min(first + kTurned, x.observations());
      if (f == Activation::relu) {
        LayerBlock<Relu>(x, s, first, last, u);
      } else {
        LayerBlock<Tanh>(x, s, first, last, u);
      }
      Transpose<false>({s.units.data(), last - first, rows.rows(), kUnits},
                       RowsOf(out, u).columns(first, last - first));
    }
  }
}

void SparseGradient(In d, const float* sums, const SparseContexts& x, SparseScratch& s, Out gradient) {
  const std::size_t B = x.observations();
  Shape(s.units, std::max(s.units.rows(), B));
  Shape(s.gradient, x.columns());
  SetBias(sums, d.rows(), s);
  for (std::size_t u = 0; u < Blocks(d.rows()); ++u) {
    const In rows = RowsOf(d, u);
    Transpose<false>(rows, {s.units.data(), B, rows.rows(), kUnits});
    GradientBlock(x, s, u);
    Transpose<true>({s.gradient.data(), x.columns(), rows.rows(), kUnits}, RowsOf(gradient, u));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pits {

HWY_EXPORT(SparseLayer);
HWY_EXPORT(SparseGradient);

void activated_layer(Activation f, ConstMatrixView<float> weights, std::span<const float> b, const SparseContexts& x,
                     SparseScratch& scratch, MatrixView<float> out) {
  if (weights.cols() != x.columns() || b.size() != weights.rows() || out.rows() != b.size() ||
      out.cols() != x.observations()) {
    throw failed("activated_layer: the shapes do not fit");
  }
  if (x.tiled) return activated_layer(f, weights, b, x.tiles, scratch.tiled, out);
  HWY_DYNAMIC_DISPATCH(SparseLayer)(f, weights, b.data(), x, scratch, out);
}

void add_product_transposed(ConstMatrixView<float> d, std::span<const float> sums, const SparseContexts& x,
                            SparseScratch& scratch, MatrixView<float> gradient) {
  if (sums.size() != d.rows() || d.cols() != x.observations() || gradient.rows() != d.rows() ||
      gradient.cols() != x.columns()) {
    throw failed("add_product_transposed: the shapes do not fit");
  }
  if (x.tiled) return add_product_transposed(d, sums, x.tiles, scratch.tiled, gradient);
  HWY_DYNAMIC_DISPATCH(SparseGradient)(d, sums.data(), x, scratch, gradient);
}

}  // namespace pits
#endif  // HWY_ONCE
