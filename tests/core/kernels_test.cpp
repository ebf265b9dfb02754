// Every kernel on every SIMD target of this machine, against plain loops in long double.
#include "pits/core/simd/kernels.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "pits/core/error.h"
#include "pits/core/random.h"

namespace pits {
namespace {

using Exact = long double;

// Numbers with a gap after each row and before the first. The gaps of an input are NaN, so that one that slips into a
// result shows; the storage of an input ends with its last number, so that the address sanitizer sees a read past it.
template <class T>
class Block {
 public:
  enum class Role { input, output };

  Block(Role role, std::size_t rows, std::size_t cols, unsigned seed, std::size_t gap = 0)
      : guard_(role == Role::input ? std::numeric_limits<T>::quiet_NaN() : T{12345}),
        rows_(rows),
        cols_(cols),
        gap_(gap),
        storage_(gap + rows * (cols + gap) - (role == Role::input ? gap : 0) + (role == Role::output ? 64 : 0),
                 guard_) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < rows; ++i) {
      for (T& x : view().row(i)) x = static_cast<T>(normal(generator));
    }
  }

  MatrixView<T> view() { return {storage_.data() + gap_, rows_, cols_, cols_ + gap_}; }
  ConstMatrixView<T> in() { return view(); }
  bool guards_untouched() {
    std::vector<T> rest = storage_;
    const MatrixView<T> inside{rest.data() + gap_, rows_, cols_, cols_ + gap_};
    for (std::size_t i = 0; i < rows_; ++i) std::ranges::fill(inside.row(i), guard_);
    return std::ranges::all_of(rest, [this](T x) { return x == guard_; });
  }

 private:
  T guard_;
  std::size_t rows_, cols_, gap_;
  std::vector<T> storage_;
};

template <class T>
Block<T> input(std::size_t rows, std::size_t cols, unsigned seed, std::size_t gap = 0) {
  return {Block<T>::Role::input, rows, cols, seed, gap};
}
template <class T>
Block<T> output(std::size_t rows, std::size_t cols, unsigned seed, std::size_t gap = 0) {
  return {Block<T>::Role::output, rows, cols, seed, gap};
}

// Any order of summing n rounded terms onto a start errs by less than (n + 3)·ε·Σ|terms| (Higham 2002, section 4.2);
// ε is twice the unit roundoff, which leaves room for the rounding inside a term.
template <class T>
class Sum {
 public:
  explicit Sum(T start = 0) { add(start); }
  void add(Exact term) {
    total_ += term;
    size_ += std::abs(term);
    ++count_;
  }
  bool near(T result) const {
    return std::abs(static_cast<Exact>(result) - total_) <= (count_ + 3) * std::numeric_limits<T>::epsilon() * size_;
  }

 private:
  Exact total_ = 0;
  Exact size_ = 0;
  Exact count_ = 0;
};

struct Case {
  std::size_t m, k, n, gap;
  unsigned seed;
};

Case any_case() {
  const auto size = rc::gen::inRange<std::size_t>(1, 71);
  const auto summed = rc::gen::oneOf(size, rc::gen::inRange<std::size_t>(100, 300));  // more than a panel, too
  return {*size, *summed, *size, *rc::gen::inRange<std::size_t>(0, 4), *rc::gen::arbitrary<unsigned>()};
}

template <class T>
void check_product(bool transpose) {
  const auto [m, k, n, gap, seed] = any_case();
  auto a = transpose ? input<T>(k, m, seed, gap) : input<T>(m, k, seed, gap);
  auto b = input<T>(k, n, seed + 1, gap);
  auto c = output<T>(m, n, seed + 2, gap);
  auto before = c;
  add_product(transpose ? transposed<T>(a.in()) : plain<T>(a.in()), b.in(), c.view());
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Sum<T> sum(before.view()(i, j));
      for (std::size_t l = 0; l < k; ++l) sum.add(Exact{transpose ? a.in()(l, i) : a.in()(i, l)} * b.in()(l, j));
      RC_ASSERT(sum.near(c.view()(i, j)));
    }
  }
  RC_ASSERT(c.guards_untouched());
}

template <class T>
void check_product_transposed() {
  const auto [m, k, n, gap, seed] = any_case();
  auto a = input<T>(m, k, seed, gap);
  auto b = input<T>(n, k, seed + 1, gap);
  auto c = output<T>(m, n, seed + 2, gap);
  auto before = c;
  add_product_transposed(a.in(), b.in(), c.view());
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Sum<T> sum(before.view()(i, j));
      for (std::size_t l = 0; l < k; ++l) sum.add(Exact{a.in()(i, l)} * b.in()(j, l));
      RC_ASSERT(sum.near(c.view()(i, j)));
    }
  }
  RC_ASSERT(c.guards_untouched());
}

template <class T>
void check_distances() {
  const auto [m, k, n, gap, seed] = any_case();
  auto a = input<T>(m, k, seed, gap);
  auto b = input<T>(n, k, seed + 1, gap);
  auto out = output<T>(m, n, seed + 2, gap);
  squared_distances(a.in(), b.in(), out.view());
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Sum<T> sum;
      for (std::size_t l = 0; l < k; ++l) {
        const Exact difference = Exact{a.in()(i, l)} - b.in()(j, l);
        sum.add(difference * difference);
      }
      RC_ASSERT(sum.near(out.view()(i, j)));
    }
  }
  RC_ASSERT(out.guards_untouched());
}

template <class T>
void check_differences() {
  const auto [m, k, n, gap, seed] = any_case();
  auto w = input<T>(m, n, seed, gap);
  auto a = input<T>(m, k, seed + 1, gap);
  auto b = input<T>(n, k, seed + 2, gap);
  auto v = output<T>(m, k, seed + 3, gap);
  auto before = v;
  add_weighted_differences(w.in(), a.in(), b.in(), v.view());
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t l = 0; l < k; ++l) {
      Sum<T> sum(before.view()(i, l));
      for (std::size_t j = 0; j < n; ++j) sum.add(Exact{w.in()(i, j)} * (Exact{a.in()(i, l)} - b.in()(j, l)));
      RC_ASSERT(sum.near(v.view()(i, l)));
    }
  }
  RC_ASSERT(v.guards_untouched());
}

template <class T>
void check_equal_rows() {
  const auto [m, k, n, gap, seed] = any_case();
  auto a = input<T>(m, k, seed, gap);
  for (std::size_t i = 1; i < m; ++i) std::ranges::copy(a.view().row(0), a.view().row(i).begin());
  auto b = a;
  auto w = input<T>(m, m, seed + 1);
  auto v = output<T>(m, k, seed + 2);
  auto before = v;
  auto d = output<T>(m, m, seed + 3);
  squared_distances(a.in(), b.in(), d.view());
  add_weighted_differences(w.in(), a.in(), b.in(), v.view());
  for (std::size_t i = 0; i < m; ++i) {
    RC_ASSERT(std::ranges::all_of(d.view().row(i), [](T x) { return x == T{0}; }));
    RC_ASSERT(std::ranges::equal(v.view().row(i), before.view().row(i)));
  }
}

template <class T>
void check_symmetric_distances() {
  const auto [m, k, n, gap, seed] = any_case();
  auto a = input<T>(m, k, seed, gap);
  auto b = input<T>(n, k, seed + 1);
  auto ab = output<T>(m, n, 0), ba = output<T>(n, m, 0), aa = output<T>(m, m, 0);
  squared_distances(a.in(), b.in(), ab.view());
  squared_distances(b.in(), a.in(), ba.view());
  squared_distances(a.in(), a.in(), aa.view());
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) RC_ASSERT(ab.view()(i, j) == ba.view()(j, i));
    for (std::size_t j = 0; j < m; ++j) RC_ASSERT(aa.view()(i, j) == aa.view()(j, i));
    RC_ASSERT(aa.view()(i, i) == T{0});
  }
}

// The same numbers at another alignment and stride.
void check_bits_without_gaps() {
  const auto [m, k, n, gap, seed] = any_case();
  std::vector<std::vector<float>> results;
  for (const std::size_t g : {std::size_t{0}, gap + 1}) {
    auto a = input<float>(m, k, seed, g), b = input<float>(n, k, seed + 1, g), w = input<float>(m, n, seed + 2, g);
    auto c = output<float>(m, n, seed + 3, g), d = c, v = output<float>(m, k, seed + 4, g), p = v;
    add_product_transposed(a.in(), b.in(), c.view());
    squared_distances(a.in(), b.in(), d.view());
    add_weighted_differences(w.in(), a.in(), b.in(), v.view());
    add_product(plain<float>(w.in()), b.in(), p.view());
    std::vector<float>& all = results.emplace_back();
    for (const MatrixView<float> x : {c.view(), d.view(), v.view(), p.view()}) {
      for (std::size_t i = 0; i < m; ++i) all.insert(all.end(), x.row(i).begin(), x.row(i).end());
    }
  }
  RC_ASSERT(results[0] == results[1]);
}

void expect_property(const std::string& name, const std::function<void()>& property) {
  EXPECT_TRUE(rc::check(name, property));
}

class Kernels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(""); }
};

TEST_P(Kernels, ProductIsThePlainLoop) {
  expect_property("A·B", [] { check_product<float>(false); });
  expect_property("Aᵀ·B", [] { check_product<float>(true); });
}
TEST_P(Kernels, ProductTransposedIsThePlainLoop) { expect_property("A·Bᵀ", check_product_transposed<float>); }
// The upper triangle, of all rows and of rows that begin with zeros.
TEST_P(Kernels, GramIsThePlainLoop) {
  for (const std::size_t m : {1U, 3U, 19U, 20U, 41U, 70U}) {
    for (const Rows rows : {Rows::full, Rows::triangular}) {
      Matrix<float> a(m, rows == Rows::full ? 33 : m), c(m, m);
      Stream stream({.seed = m, .purpose = Purpose::target_sample});
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t l = rows == Rows::full ? 0 : i; l < a.cols(); ++l)
          a(i, l) = static_cast<float>(stream.normal());
      }
      add_gram(std::as_const(a).view(), c.view(), rows);
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = i; j < m; ++j) {
          double sum = 0.0;
          for (std::size_t l = 0; l < a.cols(); ++l) sum += double{a(i, l)} * a(j, l);
          ASSERT_NEAR(c(i, j), sum, 1e-4) << m << " rows, element " << i << ", " << j;
        }
      }
    }
  }
}
TEST_P(Kernels, SquaredDistancesAreThePlainLoop) { expect_property("‖a−b‖²", check_distances<float>); }
TEST_P(Kernels, WeightedDifferencesAreThePlainLoop) { expect_property("Σ w (a−b)", check_differences<float>); }
TEST_P(Kernels, EqualRowsDifferByExactlyZero) { expect_property("equal rows", check_equal_rows<float>); }
TEST_P(Kernels, DistancesAreSymmetricToTheBit) { expect_property("symmetric", check_symmetric_distances<float>); }
TEST_P(Kernels, BitsDoNotDependOnAlignmentOrStride) { expect_property("same bits", check_bits_without_gaps); }

INSTANTIATE_TEST_SUITE_P(Simd, Kernels, testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

TEST(DoubleKernels, AreThePlainLoops) {
  expect_property("A·B", [] { check_product<double>(false); });
  expect_property("Aᵀ·B", [] { check_product<double>(true); });
  expect_property("A·Bᵀ", check_product_transposed<double>);
  expect_property("‖a−b‖²", check_distances<double>);
  expect_property("Σ w (a−b)", check_differences<double>);
  expect_property("equal rows", check_equal_rows<double>);
  expect_property("symmetric", check_symmetric_distances<double>);
}

}  // namespace
}  // namespace pits
