#include "pits/model/kernels/one_context.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/model/kernels/one_context.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "pits/core/error.h"
#include "pits/core/simd/product-inl.h"
#include "pits/model/network.h"

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {

// Writes the sums of the lanes of four vectors, each in the order of hn::SumOfLanes, which SumsOfFour does not keep.
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
HWY_INLINE void SumEach(Vector s0, Vector s1, Vector s2, Vector s3, float* HWY_RESTRICT sums) {
  const Tag d;
  const Vector s[] = {hn::SumOfLanes(d, s0), hn::SumOfLanes(d, s1), hn::SumOfLanes(d, s2), hn::SumOfLanes(d, s3)};
  for (std::size_t k = 0; k < 4; ++k) sums[k] = hn::GetLane(s[k]);
}
#else
using Quad = hn::FixedTag<float, 4>;

// Upper half onto lower half until 4 lanes are left.
template <class D>
HWY_INLINE hn::Vec<Quad> Fold(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    return Fold(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    return v;
  }
}

// (l0 + l2) + (l1 + l3) of all four at once.
HWY_INLINE void SumEach(Vector s0, Vector s1, Vector s2, Vector s3, float* HWY_RESTRICT sums) {
  const Tag d;
  const Quad quad;
  const hn::Repartition<double, Quad> pairs;
  const auto a = Fold(d, s0), b = Fold(d, s1), c = Fold(d, s2), e = Fold(d, s3);
  const auto ab = hn::Add(hn::InterleaveLower(quad, a, b), hn::InterleaveUpper(quad, a, b));  // a02 b02 a13 b13
  const auto ce = hn::Add(hn::InterleaveLower(quad, c, e), hn::InterleaveUpper(quad, c, e));
  const auto even = hn::InterleaveLower(pairs, hn::BitCast(pairs, ab), hn::BitCast(pairs, ce));
  const auto odd = hn::InterleaveUpper(pairs, hn::BitCast(pairs, ab), hn::BitCast(pairs, ce));
  hn::Store(hn::Add(hn::BitCast(quad, odd), hn::BitCast(quad, even)), quad, sums);
}
#endif

// Four rows of W against x, (n).
HWY_INLINE void FourDots(const float* const (&row)[4], const float* HWY_RESTRICT x, std::size_t n,
                         float* HWY_RESTRICT dots) {
  const Tag d;
  const std::size_t N = hn::Lanes(d);
  Vector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::size_t l = 0;
  for (; l + N <= n; l += N) {
    const Vector xl = hn::LoadU(d, x + l);
    s0 = hn::MulAdd(hn::LoadU(d, row[0] + l), xl, s0);
    s1 = hn::MulAdd(hn::LoadU(d, row[1] + l), xl, s1);
    s2 = hn::MulAdd(hn::LoadU(d, row[2] + l), xl, s2);
    s3 = hn::MulAdd(hn::LoadU(d, row[3] + l), xl, s3);
  }
  if (l < n) {
    const Vector xl = LoadFirst(x + l, n - l);
    s0 = hn::MulAdd(LoadFirst(row[0] + l, n - l), xl, s0);
    s1 = hn::MulAdd(LoadFirst(row[1] + l, n - l), xl, s1);
    s2 = hn::MulAdd(LoadFirst(row[2] + l, n - l), xl, s2);
    s3 = hn::MulAdd(LoadFirst(row[3] + l, n - l), xl, s3);
  }
  SumEach(s0, s1, s2, s3, dots);
}

// out = W x + b. Where fewer than four rows are left, the last one stands in for those that are not there.
HWY_INLINE void Affine(const Layer& layer, const float* theta, const float* x, float* HWY_RESTRICT out) {
  const float* biases = theta + layer.biases;
  HWY_ALIGN float dots[4];
  for (std::size_t i = 0; i < layer.outputs; i += 4) {
    const auto row = [&](std::size_t k) {
      return theta + layer.weights + std::min(i + k, layer.outputs - 1) * layer.inputs;
    };
    FourDots({row(0), row(1), row(2), row(3)}, x, layer.inputs, dots);
    for (std::size_t k = 0; k < std::min<std::size_t>(4, layer.outputs - i); ++k) out[i + k] = biases[i + k] + dots[k];
  }
}

// scratch holds two rows of `widest` numbers.
void EvaluateContext(const LayerStack& stack, ParticlesView theta, const float* x, float* scratch, std::size_t widest,
                     MatrixView<float> out) {
  for (std::size_t m = 0; m < theta.rows(); ++m) {
    const float* particle = theta.row(m).data();
    const float* input = x;
    for (std::size_t l = 0; l < stack.layers.size(); ++l) {
      const bool last = l + 1 == stack.layers.size();
      float* z = last ? out.row(m).data() : scratch + (l % 2) * widest;
      Affine(stack.layers[l], particle, input, z);
      if (!last || stack.activate_last) activate(stack.activation, {z, stack.layers[l].outputs});
      input = z;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pits {

HWY_EXPORT(EvaluateContext);

void evaluate_context(const LayerStack& stack, ParticlesView theta, std::span<const float> x,
                      std::vector<float>& scratch, MatrixView<float> out) {
  if (x.size() != stack.layers.front().inputs || out.cols() != stack.layers.back().outputs ||
      out.rows() != theta.rows()) {
    throw failed("evaluate_context: the shapes do not match");
  }
  std::size_t widest = 0;
  for (const Layer& layer : stack.layers) widest = std::max(widest, layer.outputs);
  if (scratch.size() < 2 * widest) scratch.resize(2 * widest);
  HWY_DYNAMIC_DISPATCH(EvaluateContext)(stack, theta, x.data(), scratch.data(), widest, out);
}

}  // namespace pits
#endif  // HWY_ONCE
