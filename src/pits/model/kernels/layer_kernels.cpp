#include "pits/model/kernels/layer_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/model/kernels/layer_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/highway.h>

#include "pits/core/error.h"
#include "pits/core/simd/product-inl.h"
#include "pits/model/kernels/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {

template <class F>
struct BiasAndActivate {
  static constexpr bool from_zero = true;
  const float* bias;
  Out out;
  template <bool whole>
  HWY_INLINE void Put(Vector sum, std::size_t i, std::size_t j, std::size_t count) const {
    StoreLanes<whole>(F::value(hn::Add(sum, hn::Set(Tag(), bias[i]))), count, &out(i, j));
  }
};

template <class F>
struct TimesSlope {
  static constexpr bool from_zero = true;
  In h;
  Out out;
  template <bool whole>
  HWY_INLINE void Put(Vector sum, std::size_t i, std::size_t j, std::size_t count) const {
    StoreLanes<whole>(F::times_slope(LoadLanes<whole>(&h(i, j), count), sum), count, &out(i, j));
  }
};

void ActivatedLayer(Activation f, Factor<float> a, const float* bias, In x, Out out) {
  if (f == Activation::relu) {
    Product(a, x, BiasAndActivate<Relu>{bias, out});
  } else {
    Product(a, x, BiasAndActivate<Tanh>{bias, out});
  }
}

void ProductTimesSlope(Activation f, Factor<float> a, In d, In h, Out out) {
  if (f == Activation::relu) {
    Product(a, d, TimesSlope<Relu>{h, out});
  } else {
    Product(a, d, TimesSlope<Tanh>{h, out});
  }
}

// Four rows at once hide the latency of the sum.
void AddRowSums(In d, float* HWY_RESTRICT sums) {
  const Tag tag;
  const std::size_t N = Width();
  const std::size_t n = d.cols();
  const std::size_t whole = n - n % N;
  const auto row = [&](std::size_t i) { return &d(i < d.rows() ? i : d.rows() - 1, 0); };
  for (std::size_t i = 0; i < d.rows(); i += 4) {
    const float* r[4] = {row(i), row(i + 1), row(i + 2), row(i + 3)};
    Vector s[4] = {hn::Zero(tag), hn::Zero(tag), hn::Zero(tag), hn::Zero(tag)};
    for (std::size_t l = 0; l < whole; l += N) {
      HWY_UNROLL(4) for (std::size_t q = 0; q < 4; ++q) s[q] = hn::Add(s[q], hn::LoadU(tag, r[q] + l));
    }
    if (whole < n) {
      HWY_UNROLL(4) for (std::size_t q = 0; q < 4; ++q) s[q] = hn::Add(s[q], LoadFirst(r[q] + whole, n - whole));
    }
    float total[4];
    SumsOfFour(s[0], s[1], s[2], s[3], total);
    for (std::size_t q = 0; q < 4 && i + q < d.rows(); ++q) sums[i + q] += total[q];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pits {

HWY_EXPORT(ActivatedLayer);
HWY_EXPORT(ProductTimesSlope);
HWY_EXPORT(AddRowSums);

namespace {

void check(bool fits, const char* name) {
  if (!fits) throw failed("{}: the shapes do not fit", name);
}

}  // namespace

void activated_layer(Activation f, Factor<float> a, std::span<const float> b, ConstMatrixView<float> x,
                     MatrixView<float> out) {
  check(a.cols == x.rows() && b.size() == a.rows && out.rows() == a.rows && out.cols() == x.cols(), "activated_layer");
  HWY_DYNAMIC_DISPATCH(ActivatedLayer)(f, a, b.data(), x, out);
}

void product_times_slope(Activation f, Factor<float> a, ConstMatrixView<float> d, ConstMatrixView<float> h,
                         MatrixView<float> out) {
  check(a.cols == d.rows() && h.rows() == a.rows && h.cols() == d.cols() && out.rows() == a.rows &&
            out.cols() == d.cols(),
        "product_times_slope");
  HWY_DYNAMIC_DISPATCH(ProductTimesSlope)(f, a, d, h, out);
}

void add_row_sums(ConstMatrixView<float> d, std::span<float> sums) {
  check(sums.size() == d.rows(), "add_row_sums");
  HWY_DYNAMIC_DISPATCH(AddRowSums)(d, sums.data());
}

}  // namespace pits
#endif  // HWY_ONCE
