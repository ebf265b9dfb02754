#include "pits/model/kernels/tiled_layer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/model/kernels/tiled_layer.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/highway.h>

#include <type_traits>
#include <utility>

#include "pits/core/error.h"
#include "pits/core/simd/kernels.h"
#include "pits/core/simd/product-inl.h"
#include "pits/model/kernels/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {

// put(first number, number of lanes, whole vector or not) over n numbers
template <class Put>
HWY_INLINE void ForLanes(std::size_t n, const Put& put) {
  const std::size_t N = Width();
  std::size_t l = 0;
  for (; l + N <= n; l += N) put(l, N, std::true_type());
  if (l < n) put(l, n - l, std::false_type());
}

template <class F>
HWY_INLINE void BiasAndActivate(const float* bias, Out out) {
  for (std::size_t i = 0; i < out.rows(); ++i) {
    const Vector b = hn::Set(Tag(), bias[i]);
    float* row = &out(i, 0);
    ForLanes(out.cols(), [&](std::size_t l, std::size_t count, auto whole) HWY_ATTR {
      StoreLanes<whole>(F::value(hn::Add(LoadLanes<whole>(row + l, count), b)), count, row + l);
    });
  }
}

void Activate(Activation f, const float* bias, Out out) {
  if (f == Activation::relu) {
    BiasAndActivate<Relu>(bias, out);
  } else {
    BiasAndActivate<Tanh>(bias, out);
  }
}

template <class F>
HWY_INLINE void TimesSlopes(In h, Out out) {
  for (std::size_t i = 0; i < out.rows(); ++i) {
    ForLanes(out.cols(), [&](std::size_t l, std::size_t count, auto whole) HWY_ATTR {
      const Vector sum = LoadLanes<whole>(&out(i, l), count);
      StoreLanes<whole>(F::times_slope(LoadLanes<whole>(&h(i, l), count), sum), count, &out(i, l));
    });
  }
}

void MultiplySlopes(Activation f, In h, Out out) {
  if (f == Activation::relu) {
    TimesSlopes<Relu>(h, out);
  } else {
    TimesSlopes<Tanh>(h, out);
  }
}

void AddMatrix(In a, Out out) {
  for (std::size_t i = 0; i < out.rows(); ++i) {
    ForLanes(out.cols(), [&](std::size_t l, std::size_t count, auto whole) HWY_ATTR {
      const Vector sum = hn::Add(LoadLanes<whole>(&out(i, l), count), LoadLanes<whole>(&a(i, l), count));
      StoreLanes<whole>(sum, count, &out(i, l));
    });
  }
}

// out(i,l) = w(i,l) · factor_l
void TimesFactors(In w, const float* factor, Out out) {
  for (std::size_t i = 0; i < w.rows(); ++i) {
    ForLanes(w.cols(), [&](std::size_t l, std::size_t count, auto whole) HWY_ATTR {
      const Vector product = hn::Mul(LoadLanes<whole>(&w(i, l), count), LoadLanes<whole>(factor + l, count));
      StoreLanes<whole>(product, count, &out(i, l));
    });
  }
}

// gradient(i,l) += shift_l · sums_i + factor_l · numbers(i,l)
void AddGradient(In numbers, const float* factor, const float* shift, const float* sums, Out gradient) {
  for (std::size_t i = 0; i < gradient.rows(); ++i) {
    const Vector sum = hn::Set(Tag(), sums[i]);
    ForLanes(gradient.cols(), [&](std::size_t l, std::size_t count, auto whole) HWY_ATTR {
      Vector g = LoadLanes<whole>(&gradient(i, l), count);
      g = hn::MulAdd(LoadLanes<whole>(shift + l, count), sum, g);
      g = hn::MulAdd(LoadLanes<whole>(factor + l, count), LoadLanes<whole>(&numbers(i, l), count), g);
      StoreLanes<whole>(g, count, &gradient(i, l));
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pits {

HWY_EXPORT(Activate);
HWY_EXPORT(MultiplySlopes);
HWY_EXPORT(AddMatrix);
HWY_EXPORT(TimesFactors);
HWY_EXPORT(AddGradient);

namespace {

ConstMatrixView<float> factored_weights(ConstMatrixView<float> weights, const TiledContexts& x, TiledScratch& s) {
  const std::size_t d = weights.cols();
  s.weights.reshape(weights.rows(), x.rows());
  HWY_DYNAMIC_DISPATCH(TimesFactors)(weights, x.factor().data(), s.weights.view().columns(0, d));
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    for (std::size_t k = 0; k < x.further().size(); ++k) s.weights(i, d + k) = weights(i, x.further()[k]);
  }
  return std::as_const(s.weights).view();
}

}  // namespace

void activated_layer(Activation f, ConstMatrixView<float> weights, std::span<const float> b, const TiledContexts& x,
                     TiledScratch& s, MatrixView<float> out) {
  if (weights.cols() != x.columns() || b.size() != weights.rows()) {
    throw failed("activated_layer: the shapes do not fit");
  }
  s.bias.assign(b.begin(), b.end());
  if (x.plain()) {
    tile_product(weights, x.weights(), x.by_column(), s.tiles, out);
  } else {
    add_product_transposed(weights, ConstMatrixView<float>(x.shift().data(), 1, x.columns()),
                           MatrixView<float>(s.bias.data(), s.bias.size(), 1));
    tile_product(factored_weights(weights, x, s), x.weights(), x.by_column(), s.tiles, out);
  }
  HWY_DYNAMIC_DISPATCH(Activate)(f, s.bias.data(), out);
}

void add_product_transposed(ConstMatrixView<float> d, std::span<const float> sums, const TiledContexts& x,
                            TiledScratch& s, MatrixView<float> gradient) {
  if (sums.size() != d.rows() || gradient.rows() != d.rows() || gradient.cols() != x.columns()) {
    throw failed("add_product_transposed: the shapes do not fit");
  }
  s.gradient.reshape(d.rows(), x.rows());
  tile_product(d, x.weights(), x.by_observation(), s.tiles, s.gradient);
  HWY_DYNAMIC_DISPATCH(AddGradient)
  (s.gradient.view(), x.factor().data(), x.shift().data(), sums.data(), gradient);
  for (std::size_t i = 0; i < gradient.rows(); ++i) {
    for (std::size_t k = 0; k < x.further().size(); ++k) {
      gradient(i, x.further()[k]) += s.gradient(i, x.columns() + k);
    }
  }
}

void activated_layer_bf16(Activation f, ConstMatrixView<float> a, std::span<const float> b, ConstMatrixView<float> x,
                          TiledScratch& s, MatrixView<float> out) {
  if (b.size() != a.rows()) throw failed("activated_layer: the shapes do not fit");
  s.input.pack(x);
  tile_product(a, LeftFactor::rounded, s.input, s.tiles, out);
  HWY_DYNAMIC_DISPATCH(Activate)(f, b.data(), out);
}

void product_times_slope_bf16(Activation f, Factor<float> a, ConstMatrixView<float> d, ConstMatrixView<float> h,
                              TiledScratch& s, MatrixView<float> out) {
  if (h.rows() != out.rows() || h.cols() != out.cols()) throw failed("product_times_slope: the shapes do not fit");
  s.weights.reshape(a.rows, a.cols);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t l = 0; l < a.cols; ++l) s.weights(i, l) = a.data[i * a.row + l * a.col];
  }
  s.delta.pack(d);
  tile_product(s.weights, LeftFactor::rounded, s.delta, s.tiles, out);
  HWY_DYNAMIC_DISPATCH(MultiplySlopes)(f, h, out);
}

void add_product_transposed_bf16(ConstMatrixView<float> a, ConstMatrixView<float> b, TiledScratch& s,
                                 MatrixView<float> c) {
  if (c.rows() != a.rows() || c.cols() != b.rows()) throw failed("add_product_transposed: the shapes do not fit");
  s.gradient.reshape(c.rows(), c.cols());
  s.turned.pack_transposed(b);
  tile_product(a, LeftFactor::rounded, s.turned, s.tiles, s.gradient);
  HWY_DYNAMIC_DISPATCH(AddMatrix)(s.gradient.view(), c);
}

}  // namespace pits
#endif  // HWY_ONCE
