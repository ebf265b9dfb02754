#include "pits/model/sparse_layer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/model/sparse_layer.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "pits/core/error.h"
#include "pits/core/product-inl.h"
#include "pits/model/activation-inl.h"

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

// V vectors of start + Σ_k value_k rows(other_k, ·) over the entries of a line, from column h on.
template <std::size_t V>
HWY_INLINE void CombineRows(const Entries& x, std::size_t line, In rows, std::size_t h, Vector (&even)[V]) {
  const Tag d;
  const std::size_t N = Width();
  Vector odd[V];
  HWY_UNROLL(4) for (Vector& o : odd) o = hn::Zero(d);
  std::size_t k = x.start[line];
  const std::size_t end = x.start[line + 1];
  const auto add = [&](std::size_t entry, Vector(&sum)[V]) HWY_ATTR {
    const float* row = &rows(x.other[entry], h);
    const Vector value = hn::Set(d, x.value[entry]);
    HWY_UNROLL(4) for (std::size_t v = 0; v < V; ++v) sum[v] = hn::MulAdd(value, hn::Load(d, row + v * N), sum[v]);
  };
  for (; k + 2 <= end; k += 2) {
    add(k, even);
    add(k + 1, odd);
  }
  if (k < end) add(k, even);
  HWY_UNROLL(4) for (std::size_t v = 0; v < V; ++v) even[v] = hn::Add(even[v], odd[v]);
}

// Observations whose units are made, then turned into columns while they are in the L1 cache.
constexpr std::size_t kTurned = 16;

// units(b−first, h..) = f(bias + Σ value · weights) for b = first .. last−1
template <class F, std::size_t V>
HWY_INLINE void LayerBlock(const SparseContexts& x, SparseScratch& s, std::size_t first, std::size_t last,
                           std::size_t h) {
  const Tag d;
  const std::size_t N = Width();
  const In weights = std::as_const(s.weights).view();
  for (std::size_t b = first; b < last; ++b) {
    Vector sum[V];
    HWY_UNROLL(4) for (std::size_t v = 0; v < V; ++v) sum[v] = hn::LoadU(d, s.bias.data() + h + v * N);
    CombineRows<V>(x.by_observation, b, weights, h, sum);
    HWY_UNROLL(4) for (std::size_t v = 0; v < V; ++v) hn::Store(F::value(sum[v]), d, &s.units(b - first, h + v * N));
  }
}

// gradient(l, h..) = base_l · sums + Σ value · deltas; the sums lie in s.bias.
template <std::size_t V>
HWY_INLINE void GradientBlock(const SparseContexts& x, SparseScratch& s, std::size_t h) {
  const Tag d;
  const std::size_t N = Width();
  const In deltas = std::as_const(s.units).view();
  for (std::size_t l = 0; l < x.columns(); ++l) {
    Vector sum[V];
    HWY_UNROLL(4) for (std::size_t v = 0; v < V; ++v) {
      sum[v] = hn::Mul(hn::Set(d, x.base[l]), hn::LoadU(d, s.bias.data() + h + v * N));
    }
    CombineRows<V>(x.by_column, l, deltas, h, sum);
    HWY_UNROLL(4) for (std::size_t v = 0; v < V; ++v) hn::Store(sum[v], d, &s.gradient(l, h + v * N));
  }
}

// Calls block(V, h) with V a compile-time number of vectors, four where they fit, until `units` are covered.
template <class Block>
HWY_INLINE void ForUnits(std::size_t units, const Block& block) {
  const std::size_t N = Width();
  std::size_t h = 0;
  for (; h + 4 * N <= units; h += 4 * N) block(std::integral_constant<std::size_t, 4>(), h);
  switch ((units - h) / N) {
    case 1: return block(std::integral_constant<std::size_t, 1>(), h);
    case 2: return block(std::integral_constant<std::size_t, 2>(), h);
    case 3: return block(std::integral_constant<std::size_t, 3>(), h);
    default: return;
  }
}

HWY_INLINE std::size_t Padded(std::size_t units) { return (units + Width() - 1) / Width() * Width(); }

// The padding stays zero from the first reshape on.
HWY_INLINE void Shape(Matrix<float>& m, std::size_t rows, std::size_t cols) {
  if (m.rows() != rows || m.cols() != cols) m.reshape(rows, cols);
}

void SparseLayer(Activation f, In weights, const float* b, const SparseContexts& x, SparseScratch& s, Out out) {
  const std::size_t H = weights.rows();
  const std::size_t padded = Padded(H);
  Shape(s.weights, x.columns(), padded);
  Shape(s.units, x.observations(), padded);
  Transpose<false>(weights, s.weights.view().columns(0, H));
  s.bias.assign(padded, 0.0F);
  for (std::size_t i = 0; i < H; ++i) s.bias[i] = b[i];
  ProductTransposed(weights, {x.base.data(), 1, x.base.size()}, {s.bias.data(), H, 1});
  for (std::size_t first = 0; first < x.observations(); first += kTurned) {
    const std::size_t last = std::min(first + kTurned, x.observations());
    ForUnits(padded, [&](auto vectors, std::size_t h) HWY_ATTR {
      if (f == Activation::relu) {
        LayerBlock<Relu, vectors()>(x, s, first, last, h);
      } else {
        LayerBlock<Tanh, vectors()>(x, s, first, last, h);
      }
    });
    Transpose<false>({s.units.data(), last - first, H, padded}, out.columns(first, last - first));
  }
}

void SparseGradient(In d, const float* sums, const SparseContexts& x, SparseScratch& s, Out gradient) {
  const std::size_t H = d.rows();
  const std::size_t padded = Padded(H);
  Shape(s.units, x.observations(), padded);
  Shape(s.gradient, x.columns(), padded);
  Transpose<false>(d, s.units.view().columns(0, H));
  s.bias.assign(padded, 0.0F);
  for (std::size_t i = 0; i < H; ++i) s.bias[i] = sums[i];
  ForUnits(padded, [&](auto vectors, std::size_t h) HWY_ATTR { GradientBlock<vectors()>(x, s, h); });
  Transpose<true>(std::as_const(s.gradient).view().columns(0, H), gradient);
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
  HWY_DYNAMIC_DISPATCH(SparseLayer)(f, weights, b.data(), x, scratch, out);
}

void add_product_transposed(ConstMatrixView<float> d, std::span<const float> sums, const SparseContexts& x,
                            SparseScratch& scratch, MatrixView<float> gradient) {
  if (sums.size() != d.rows() || d.cols() != x.observations() || gradient.rows() != d.rows() ||
      gradient.cols() != x.columns()) {
    throw failed("add_product_transposed: the shapes do not fit");
  }
  HWY_DYNAMIC_DISPATCH(SparseGradient)(d, sums.data(), x, scratch, gradient);
}

}  // namespace pits
#endif  // HWY_ONCE
