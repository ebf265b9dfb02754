// Factors and inverses on every SIMD target of this machine, against Eigen.
#include "pits/core/simd/inverse.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "pits/core/simd/kernels.h"

namespace pits {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double epsilon = std::numeric_limits<double>::epsilon();

// B Bᵀ/n + I: well conditioned.
Eigen::MatrixXd positive_definite(Eigen::Index n) {
  std::mt19937 generator(static_cast<unsigned>(n));
  std::normal_distribution<double> normal;
  const Eigen::MatrixXd b = Eigen::MatrixXd::NullaryExpr(n, n, [&] { return normal(generator); });
  return b * b.transpose() / static_cast<double>(n) + Eigen::MatrixXd::Identity(n, n);
}

// A square matrix with gaps of NaN after its rows.
class Square {
 public:
  explicit Square(Eigen::Index n) : n_(static_cast<std::size_t>(n)), storage_(n_ * (n_ + gap), nan) {}
  // The upper triangle; what lies below is NaN, so that it shows where it is read.
  explicit Square(const Eigen::MatrixXd& a) : Square(a.rows()) {
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      for (Eigen::Index j = i; j < a.cols(); ++j) {
        view()(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) = a(i, j);
      }
    }
  }
  MatrixView<double> view() { return {storage_.data(), n_, n_, n_ + gap}; }
  Eigen::MatrixXd values() {
    const auto n = static_cast<Eigen::Index>(n_);
    return Eigen::MatrixXd::NullaryExpr(n, n, [&](Eigen::Index i, Eigen::Index j) {
      return view()(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    });
  }
  Eigen::MatrixXd upper() { return values().triangularView<Eigen::Upper>(); }
  bool gaps_untouched() const {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = n_; j < n_ + gap; ++j) {
        if (!std::isnan(storage_[i * (n_ + gap) + j])) return false;
      }
    }
    return true;
  }
  bool lower_untouched() {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!std::isnan(view()(i, j))) return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t gap = 3;
  std::size_t n_;
  std::vector<double> storage_;
};

class Inverse : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(""); }
};

const std::vector<Eigen::Index> sizes = {1, 2, 7, 8, 9, 16, 17, 31, 64, 105};

// |UᵀU − A| ≤ (n + 1)u |Uᵀ||U| by entries (Higham 2002, theorem 10.3), with room for the reciprocals: ε is 2u.
TEST_P(Inverse, FactorIsThatOfEigen) {
  for (const Eigen::Index n : sizes) {
    const Eigen::MatrixXd A = positive_definite(n);
    Square a(A);
    ASSERT_TRUE(factor_upper(a.view())) << n;
    EXPECT_TRUE(a.gaps_untouched() && a.lower_untouched()) << n;
    const Eigen::MatrixXd U = a.upper(), size = U.cwiseAbs().transpose() * U.cwiseAbs();
    const Eigen::MatrixXd error = (U.transpose() * U - A).cwiseAbs();
    EXPECT_TRUE((error.array() <= static_cast<double>(n + 5) * epsilon * size.array()).all()) << n;
    const Eigen::MatrixXd reference = A.llt().matrixU();
    EXPECT_LT((U - reference).norm(), 1e-12 * reference.norm()) << n;
  }
}

TEST_P(Inverse, InverseIsThatOfEigen) {
  for (const Eigen::Index n : sizes) {
    const Eigen::MatrixXd A = positive_definite(n);
    const Eigen::MatrixXd U = A.llt().matrixU();
    Square u(U), w(n);
    invert_upper(u.view(), w.view());
    EXPECT_TRUE(w.gaps_untouched() && u.gaps_untouched() && u.lower_untouched()) << n;
    const Eigen::MatrixXd W = w.values();
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < i; ++j) EXPECT_EQ(W(i, j), 0.0);
    }
    EXPECT_LT((W - U.inverse()).norm(), 1e-12 * W.norm()) << n;
    const Eigen::MatrixXd inverse = A.inverse();
    EXPECT_LT((W * W.transpose() - inverse).norm(), 1e-12 * inverse.norm()) << n;
  }
}

// Scales that differ by 10¹² from row to row cost no accuracy: the factor scales with them.
TEST_P(Inverse, ScalesOfTheRowsDoNotMatter) {
  for (const Eigen::Index n : {9, 64}) {
    Eigen::VectorXd scale(n);
    for (Eigen::Index i = 0; i < n; ++i) scale[i] = i % 2 == 0 ? 1e6 : 1e-6;
    const Eigen::MatrixXd A = positive_definite(n);
    Square a(scale.asDiagonal() * A * scale.asDiagonal()), w(n);
    ASSERT_TRUE(factor_upper(a.view()));
    invert_upper(a.view(), w.view());
    const Eigen::MatrixXd W = scale.asDiagonal() * w.values(), inverse = A.inverse();
    EXPECT_LT((W * W.transpose() - inverse).norm(), 1e-12 * inverse.norm()) << n;
  }
}

TEST_P(Inverse, SaysWhatIsNotPositiveDefinite) {
  for (const Eigen::Index n : sizes) {
    const auto refused = [&](Eigen::Index k, double pivot) {
      Eigen::MatrixXd A = Eigen::MatrixXd::Identity(n, n);
      A(k, k) = pivot;
      return !factor_upper(Square(A).view());
    };
    for (const Eigen::Index k : {Eigen::Index{0}, n / 2, n - 1}) {
      for (const double pivot : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
        EXPECT_TRUE(refused(k, pivot)) << n << ": " << pivot << " at " << k;
      }
    }
    if (n == 1) continue;
    Eigen::MatrixXd indefinite = Eigen::MatrixXd::Identity(n, n);  // a positive diagonal, and 1 − 2² in the end
    indefinite(0, n - 1) = indefinite(n - 1, 0) = 2.0;
    EXPECT_FALSE(factor_upper(Square(indefinite).view())) << n;
    Eigen::MatrixXd shifted = positive_definite(n);
    const double least = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(shifted).eigenvalues()[0];
    EXPECT_TRUE(factor_upper(Square(shifted - 0.999 * least * Eigen::MatrixXd::Identity(n, n)).view())) << n;
    EXPECT_FALSE(factor_upper(Square(shifted - 1.001 * least * Eigen::MatrixXd::Identity(n, n)).view())) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, Inverse, testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

}  // namespace
}  // namespace pits
