#include "pits/core/kernels.h"

#include "pits/core/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pits/core/kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pits {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<float>;
using Vector = hn::Vec<Lanes>;
using Mask = hn::Mask<Lanes>;

HWY_INLINE float Sum(Vector v) { return hn::GetLane(hn::SumOfLanes(Lanes(), v)); }

// Rows i..i+3, columns j..j+2N−1 of C += A·B: eight accumulators hide the latency of the multiply-add.
HWY_INLINE void ProductBlock4x2(const Factor<float>& a, const float* HWY_RESTRICT b, std::size_t n,
                                float* HWY_RESTRICT c, std::size_t i, std::size_t j) {
  const Lanes d;
  const std::size_t N = hn::Lanes(d);
  Vector c00 = hn::Zero(d), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00, c30 = c00, c31 = c00;
  const float* ai = a.data + i * a.row;
  for (std::size_t l = 0; l < a.cols; ++l) {
    const float* bl = b + l * n + j;
    const Vector b0 = hn::LoadU(d, bl);
    const Vector b1 = hn::LoadU(d, bl + N);
    const float* al = ai + l * a.col;
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
  float* cij = c + i * n + j;
  hn::StoreU(hn::Add(hn::LoadU(d, cij), c00), d, cij);
  hn::StoreU(hn::Add(hn::LoadU(d, cij + N), c01), d, cij + N);
  hn::StoreU(hn::Add(hn::LoadU(d, cij + n), c10), d, cij + n);
  hn::StoreU(hn::Add(hn::LoadU(d, cij + n + N), c11), d, cij + n + N);
  hn::StoreU(hn::Add(hn::LoadU(d, cij + 2 * n), c20), d, cij + 2 * n);
  hn::StoreU(hn::Add(hn::LoadU(d, cij + 2 * n + N), c21), d, cij + 2 * n + N);
  hn::StoreU(hn::Add(hn::LoadU(d, cij + 3 * n), c30), d, cij + 3 * n);
  hn::StoreU(hn::Add(hn::LoadU(d, cij + 3 * n + N), c31), d, cij + 3 * n + N);
}

// One row, one vector of at most N columns: the edges of the block above.
HWY_INLINE void ProductBlock1x1(const Factor<float>& a, const float* HWY_RESTRICT b, std::size_t n,
                                float* HWY_RESTRICT c, std::size_t i, std::size_t j, Mask mask) {
  const Lanes d;
  Vector sum = hn::Zero(d);
  for (std::size_t l = 0; l < a.cols; ++l) {
    sum = hn::MulAdd(hn::Set(d, a.data[i * a.row + l * a.col]), hn::MaskedLoad(mask, d, b + l * n + j), sum);
  }
  float* cij = c + i * n + j;
  hn::BlendedStore(hn::Add(hn::MaskedLoad(mask, d, cij), sum), mask, d, cij);
}

void AddProduct(Factor<float> a, ConstMatrixView<float> b, MatrixView<float> c) {
  const Lanes d;
  const std::size_t N = hn::Lanes(d);
  const std::size_t n = b.cols();
  for (std::size_t j = 0; j < n;) {
    const bool wide = j + 2 * N <= n;
    const std::size_t columns = wide ? 2 * N : (n - j < N ? n - j : N);
    const Mask first = hn::FirstN(d, columns < N ? columns : N);
    std::size_t i = 0;
    if (wide) {
      for (; i + 4 <= a.rows; i += 4) ProductBlock4x2(a, b.data(), n, c.data(), i, j);
    }
    for (; i < a.rows; ++i) {
      ProductBlock1x1(a, b.data(), n, c.data(), i, j, first);
      if (wide) ProductBlock1x1(a, b.data(), n, c.data(), i, j + N, first);
    }
    j += columns;
  }
}

// Rows i..i+3 of A against row j and j+1 of B, summed over n.
HWY_INLINE void DotBlock4x2(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t n,
                            float* HWY_RESTRICT c, std::size_t p) {
  const Lanes d;
  const std::size_t N = hn::Lanes(d);
  Vector c00 = hn::Zero(d), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00, c30 = c00, c31 = c00;
  for (std::size_t l = 0; l < n; l += N) {
    const Mask mask = hn::FirstN(d, n - l < N ? n - l : N);
    const Vector b0 = hn::MaskedLoad(mask, d, b + l);
    const Vector b1 = hn::MaskedLoad(mask, d, b + n + l);
    const Vector a0 = hn::MaskedLoad(mask, d, a + l);
    const Vector a1 = hn::MaskedLoad(mask, d, a + n + l);
    const Vector a2 = hn::MaskedLoad(mask, d, a + 2 * n + l);
    const Vector a3 = hn::MaskedLoad(mask, d, a + 3 * n + l);
    c00 = hn::MulAdd(a0, b0, c00);
    c01 = hn::MulAdd(a0, b1, c01);
    c10 = hn::MulAdd(a1, b0, c10);
    c11 = hn::MulAdd(a1, b1, c11);
    c20 = hn::MulAdd(a2, b0, c20);
    c21 = hn::MulAdd(a2, b1, c21);
    c30 = hn::MulAdd(a3, b0, c30);
    c31 = hn::MulAdd(a3, b1, c31);
  }
  c[0] += Sum(c00);
  c[1] += Sum(c01);
  c[p] += Sum(c10);
  c[p + 1] += Sum(c11);
  c[2 * p] += Sum(c20);
  c[2 * p + 1] += Sum(c21);
  c[3 * p] += Sum(c30);
  c[3 * p + 1] += Sum(c31);
}

HWY_INLINE float Dot(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t n) {
  const Lanes d;
  const std::size_t N = hn::Lanes(d);
  Vector sum = hn::Zero(d);
  for (std::size_t l = 0; l < n; l += N) {
    const Mask mask = hn::FirstN(d, n - l < N ? n - l : N);
    sum = hn::MulAdd(hn::MaskedLoad(mask, d, a + l), hn::MaskedLoad(mask, d, b + l), sum);
  }
  return Sum(sum);
}

void AddProductTransposed(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> c) {
  const std::size_t n = a.cols();
  const std::size_t p = b.rows();
  std::size_t i = 0;
  for (; i + 4 <= a.rows(); i += 4) {
    std::size_t j = 0;
    for (; j + 2 <= p; j += 2) DotBlock4x2(a.data() + i * n, b.data() + j * n, n, c.data() + i * p + j, p);
    for (; j < p; ++j) {
      for (std::size_t r = i; r < i + 4; ++r) c(r, j) += Dot(a.data() + r * n, b.data() + j * n, n);
    }
  }
  for (; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < p; ++j) c(i, j) += Dot(a.data() + i * n, b.data() + j * n, n);
  }
}

HWY_INLINE float SquaredDistance(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t n) {
  const Lanes d;
  const std::size_t N = hn::Lanes(d);
  Vector even = hn::Zero(d), odd = even;
  std::size_t l = 0;
  for (; l + 2 * N <= n; l += 2 * N) {
    const Vector x = hn::Sub(hn::LoadU(d, a + l), hn::LoadU(d, b + l));
    const Vector y = hn::Sub(hn::LoadU(d, a + l + N), hn::LoadU(d, b + l + N));
    even = hn::MulAdd(x, x, even);
    odd = hn::MulAdd(y, y, odd);
  }
  for (; l < n; l += N) {
    const Mask mask = hn::FirstN(d, n - l < N ? n - l : N);
    const Vector x = hn::Sub(hn::MaskedLoad(mask, d, a + l), hn::MaskedLoad(mask, d, b + l));
    even = hn::MulAdd(x, x, even);
  }
  return Sum(hn::Add(even, odd));
}

void SquaredDistances(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> out) {
  const bool same = a.data() == b.data() && a.rows() == b.rows();
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = same ? i : 0; j < b.rows(); ++j) {
      out(i, j) = SquaredDistance(a.data() + i * a.cols(), b.data() + j * b.cols(), a.cols());
      if (same) out(j, i) = out(i, j);
    }
  }
}

// A tile of one vector of columns stays in a register while j runs.
void AddWeightedDifferences(ConstMatrixView<float> w, ConstMatrixView<float> a, ConstMatrixView<float> b,
                            MatrixView<float> v) {
  const Lanes d;
  const std::size_t N = hn::Lanes(d);
  const std::size_t p = a.cols();
  for (std::size_t l = 0; l < p; l += N) {
    const Mask mask = hn::FirstN(d, p - l < N ? p - l : N);
    for (std::size_t i = 0; i < a.rows(); ++i) {
      const Vector ai = hn::MaskedLoad(mask, d, a.data() + i * p + l);
      Vector even = hn::Zero(d), odd = even;
      std::size_t j = 0;
      for (; j + 2 <= b.rows(); j += 2) {
        const float* bj = b.data() + j * p + l;
        even = hn::MulAdd(hn::Set(d, w(i, j)), hn::Sub(ai, hn::MaskedLoad(mask, d, bj)), even);
        odd = hn::MulAdd(hn::Set(d, w(i, j + 1)), hn::Sub(ai, hn::MaskedLoad(mask, d, bj + p)), odd);
      }
      if (j < b.rows()) {
        even = hn::MulAdd(hn::Set(d, w(i, j)), hn::Sub(ai, hn::MaskedLoad(mask, d, b.data() + j * p + l)), even);
      }
      float* vi = v.data() + i * p + l;
      hn::BlendedStore(hn::Add(hn::MaskedLoad(mask, d, vi), hn::Add(even, odd)), mask, d, vi);
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

namespace {

void check_shape(bool fits, const char* operation) {
  if (!fits) throw failed("{}: the shapes do not match", operation);
}

}  // namespace

void add_product(Factor<float> a, ConstMatrixView<float> b, MatrixView<float> c) {
  check_shape(a.cols == b.rows() && a.rows == c.rows() && b.cols() == c.cols(), "add_product");
  HWY_DYNAMIC_DISPATCH(AddProduct)(a, b, c);
}

void add_product_transposed(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> c) {
  check_shape(a.cols() == b.cols() && a.rows() == c.rows() && b.rows() == c.cols(), "add_product_transposed");
  HWY_DYNAMIC_DISPATCH(AddProductTransposed)(a, b, c);
}

void squared_distances(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> out) {
  check_shape(a.cols() == b.cols() && a.rows() == out.rows() && b.rows() == out.cols(), "squared_distances");
  HWY_DYNAMIC_DISPATCH(SquaredDistances)(a, b, out);
}

void add_weighted_differences(ConstMatrixView<float> w, ConstMatrixView<float> a, ConstMatrixView<float> b,
                              MatrixView<float> v) {
  check_shape(w.rows() == a.rows() && w.cols() == b.rows() && a.cols() == b.cols() && v.rows() == a.rows() &&
                  v.cols() == a.cols(),
              "add_weighted_differences");
  HWY_DYNAMIC_DISPATCH(AddWeightedDifferences)(w, a, b, v);
}

void add_product(Factor<double> a, ConstMatrixView<double> b, MatrixView<double> c) {
  check_shape(a.cols == b.rows() && a.rows == c.rows() && b.cols() == c.cols(), "add_product");
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t l = 0; l < a.cols; ++l) {
      const double ail = a.data[i * a.row + l * a.col];
      for (std::size_t j = 0; j < b.cols(); ++j) c(i, j) += ail * b(l, j);
    }
  }
}

void add_product_transposed(ConstMatrixView<double> a, ConstMatrixView<double> b, MatrixView<double> c) {
  check_shape(a.cols() == b.cols() && a.rows() == c.rows() && b.rows() == c.cols(), "add_product_transposed");
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      for (std::size_t l = 0; l < a.cols(); ++l) c(i, j) += a(i, l) * b(j, l);
    }
  }
}

void squared_distances(ConstMatrixView<double> a, ConstMatrixView<double> b, MatrixView<double> out) {
  check_shape(a.cols() == b.cols() && a.rows() == out.rows() && b.rows() == out.cols(), "squared_distances");
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      double sum = 0.0;
      for (std::size_t l = 0; l < a.cols(); ++l) sum += (a(i, l) - b(j, l)) * (a(i, l) - b(j, l));
      out(i, j) = sum;
    }
  }
}

void add_weighted_differences(ConstMatrixView<double> w, ConstMatrixView<double> a, ConstMatrixView<double> b,
                              MatrixView<double> v) {
  check_shape(w.rows() == a.rows() && w.cols() == b.rows() && a.cols() == b.cols() && v.rows() == a.rows() &&
                  v.cols() == a.cols(),
              "add_weighted_differences");
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      for (std::size_t l = 0; l < a.cols(); ++l) v(i, l) += w(i, j) * (a(i, l) - b(j, l));
    }
  }
}

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

std::string simd_target() { return simd_targets().front(); }

void force_simd_target(const std::string& name) {
  hwy::SetSupportedTargetsForTest(0);
  if (!name.empty()) {
    const std::vector<std::string> known = simd_targets();
    std::int64_t wanted = 0;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
      if (name == hwy::TargetName(target)) wanted = target;
    }
    if (wanted == 0) throw unknown_name("SIMD target", name, known);
    hwy::SetSupportedTargetsForTest(wanted);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace pits
#endif  // HWY_ONCE
