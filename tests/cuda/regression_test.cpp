// What a thread block computes of a regression, by threads of the CPU.
#include "pits/cuda/last_layer/regression.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "cuda/crew.h"
#include "pits/agent/presets.h"
#include "pits/cuda/gpu_settings.h"
#include "pits/cuda/last_layer/evidence.h"
#include "pits/cuda/normals.h"

namespace pits::cuda {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Alone alone;

MatrixXd random_matrix(Stream& stream, Eigen::Index rows, Eigen::Index columns) {
  return MatrixXd::NullaryExpr(rows, columns, [&] { return stream.normal(); });
}

std::vector<double> packed_lower(const MatrixXd& A) {
  std::vector<double> out;
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    for (Eigen::Index c = 0; c <= i; ++c) out.push_back(A(i, c));
  }
  return out;
}

// ‖a − b‖/‖b‖
double error(std::span<const double> a, const VectorXd& b) {
  const Eigen::Map<const VectorXd> map(a.data(), static_cast<Eigen::Index>(a.size()));
  return (map - b).norm() / b.norm();
}

RegressionSums sums_of(const MatrixXd& X, const VectorXd& y) {
  RegressionSums sums(X.rows());
  sums.xx = X * X.transpose();
  sums.xy = X * y;
  sums.yy = y.squaredNorm();
  sums.n = static_cast<double>(y.size());
  return sums;
}

// Memory of one regression of the sums of X (F,n), y.
struct Memory {
  int F;
  std::vector<double> inverse, moment, mean, draw, deviation;
  RegressionTotals totals{};

  Memory(const MatrixXd& X, const VectorXd& y, Stream& stream) : F(static_cast<int>(X.rows())), mean(F), deviation(F) {
    inverse = packed_lower(X * X.transpose());
    const VectorXd xy = X * y;
    moment.assign(xy.begin(), xy.end());
    for (int f = 0; f < F; ++f) draw.push_back(stream.normal());
    totals = {.n = static_cast<double>(y.size()), .yy = y.squaredNorm(), .misfit = 0.0};
  }

  Regression view() { return {inverse.data(), moment.data(), mean.data(), draw.data(), deviation.data(), &totals}; }

  bool fit_with(const VectorXd& prior) {
    std::vector<double> place = inverse, work(panel * F);
    bool usable = false;
    Crew::run(2, [&](const Crew& crew) {
      const bool mine = fit(crew, F, view(), prior.data(), place.data(), work.data());
      if (crew.thread == 0) usable = mine;
    });
    inverse = place;
    return usable;
  }
};

TEST(GpuRegression, TheInverseFactorIsEigens) {
  Stream stream({.seed = 8});
  for (const int F : {1, 2, 3, 4, 17, 60}) {
    const MatrixXd X = random_matrix(stream, F, F + 5), A = X * X.transpose() + 0.1 * MatrixXd::Identity(F, F);
    std::vector<double> W = packed_lower(A), pivots(panel * F);
    Crew::run(3, [&](const Crew& crew) { EXPECT_TRUE(invert_factor(crew, F, W.data(), pivots.data())); });
    const MatrixXd lower = A.llt().matrixL();
    const MatrixXd expected = lower.inverse();
    for (int i = 0; i < F; ++i) {
      for (int c = 0; c <= i; ++c) EXPECT_NEAR(W[packed(i, c)], expected(i, c), 1e-10 * expected.norm());
    }
  }
}

TEST(GpuRegression, SaysWhereNoDigitsAreLeft) {
  MatrixXd A = MatrixXd::Identity(3, 3);
  A(1, 1) = 1e-17;
  std::vector<double> W = packed_lower(A), pivots(panel * 3);
  EXPECT_FALSE(invert_factor(alone, 3, W.data(), pivots.data()));
  W = packed_lower(MatrixXd::Ones(3, 3));
  EXPECT_FALSE(invert_factor(alone, 3, W.data(), pivots.data()));
  A(1, 1) = std::nan("");
  W = packed_lower(A);
  EXPECT_FALSE(invert_factor(alone, 3, W.data(), pivots.data()));
}

// n at once and k one by one are n + k at once, by the CPU's regression; precisions and scales as last layers have
// them.
TEST(GpuRegression, ObservationsOneByOneAreAFreshFit) {
  Stream stream({.seed = 9});
  for (const int F : {1, 4, 23, 70}) {
    for (const int n : {0, 3, 200}) {
      constexpr int k = 40;
      const MatrixXd X = random_matrix(stream, F, n + k);
      const VectorXd y = random_matrix(stream, n + k, 1),
                     prior = random_matrix(stream, F, 1).cwiseAbs2() + 2.5e-4 * VectorXd::Ones(F);
      Memory memory(X.leftCols(n), y.head(n), stream);
      ASSERT_TRUE(memory.fit_with(prior));
      std::vector<double> work(3 * F + 1);
      for (int b = n; b < n + k; ++b) {
        const VectorXd x = X.col(b);
        Crew::run(2, [&](const Crew& crew) { observe(crew, F, memory.view(), x.data(), y[b], work.data()); });
      }
      const RegressionSums sums = sums_of(X, y);
      const BayesLinearConfig config{.lambda = 1.0, .a0 = 2.0, .b0 = 0.3};
      BayesLinear fresh(config, sums);
      fresh.fit(config, prior, sums);
      VectorXd deviation;
      fresh.deviation(Eigen::Map<const VectorXd>(memory.draw.data(), F), deviation);
      EXPECT_LT(error(memory.mean, fresh.mean()), 1e-8) << F << " " << n;
      EXPECT_LT(error(memory.deviation, deviation), 1e-8) << F << " " << n;
      EXPECT_NEAR(memory.totals.misfit, fresh.misfit(), 1e-8 * fresh.b()) << F << " " << n;
      EXPECT_EQ(memory.totals.n, fresh.n());
    }
  }
}

TEST(GpuRegression, TheEvidenceStepIsTheCpus) {
  Stream stream({.seed = 10});
  PiTsConfig config = pi_ts_preset("pi-ts", "exact");
  config.posterior.model.hidden = {11};
  constexpr std::size_t d = 5, K = 4;
  const LastLayerSettings s = gpu_settings(config, {d, K, 0, 0}, 100, GpuPrecision::tf32).last_layer;
  ASSERT_EQ(s.features, 11 + 5 + 1);
  ASSERT_EQ(s.groups, 3);
  const RewardModel model(config.posterior.model, d, K);
  std::vector<CoefficientGroup> groups = coefficient_groups(config.posterior.last_layer, model.network());
  std::vector<double> precision;
  for (const CoefficientGroup& g : groups) precision.push_back(g.precision);
  for (int step = 0; step < 3; ++step) {
    std::vector<RegressionSums> sums;
    std::vector<EvidenceTerms> evidence_terms(K);
    const VectorXd beta = random_matrix(stream, s.features, 1);
    for (std::size_t a = 0; a < K; ++a) {
      const Eigen::Index n = a == 2 ? 0 : 7 + 30 * static_cast<Eigen::Index>(a);
      const MatrixXd X = random_matrix(stream, s.features, n);
      const VectorXd y = X.transpose() * beta + random_matrix(stream, n, 1);
      sums.push_back(sums_of(X, y));
      Memory memory(X, y, stream);
      std::vector<double> place(memory.inverse.size()), work(4 * s.features);
      if (n == 0) continue;  // as the kernel does
      Crew::run(2, [&](const Crew& crew) {
        EXPECT_TRUE(find_evidence_terms(crew, s, memory.view(), precision.data(), place.data(), work.data(),
                                        evidence_terms[a]));
      });
    }
    step_precisions(s, evidence_terms.data(), K, precision.data());
    evidence_step(sums, {.lambda = 1.0, .a0 = s.config.noise_shape, .b0 = s.config.noise_scale}, groups);
    for (std::size_t g = 0; g < groups.size(); ++g) EXPECT_NEAR(precision[g] / groups[g].precision, 1.0, 1e-9);
  }
}

TEST(GpuRegression, NormalsByTheirPlaceAreTheStreams) {
  const Address address{.seed = 5, .realization = 3, .purpose = Purpose::last_layer, .step = 7};
  Stream stream(address);
  for (std::int64_t q = 0; q < 1001; ++q) {
    const double expected = stream.normal();
    EXPECT_NEAR(normal(address, q), expected, 1e-14 * (1.0 + std::abs(expected)));
  }
}

TEST(GpuRegression, ManyNormalsByTheirPlaceAreThoseOfFillNormals) {
  const Address address{.seed = 5, .realization = 3, .purpose = Purpose::observation_noise, .step = 7};
  std::vector<float> expected(1001);
  fill_normals(address, expected);
  for (std::size_t q = 0; q < expected.size(); ++q) {
    EXPECT_NEAR(chunk_normal(address, static_cast<std::int64_t>(q)), expected[q], 1e-5F);
  }
}

// As PiTs::learn decides it, round by round.
TEST(GpuSettings, TrainingsAreDueWhereTheAgentTrains) {
  for (const char* preset : {"exact", "released", "paper"}) {
    for (const double share : {0.0, 0.02, 0.3}) {
      PiTsConfig config = pi_ts_preset("pi-ts", preset);
      config.posterior.training.share = share;
      std::vector<std::uint32_t> expected;
      std::uint64_t trained_at = 0;
      for (std::uint64_t t = 1; t <= 5000; ++t) {
        if (!config.posterior.training.due(t, trained_at, config.posterior.memory)) continue;
        expected.push_back(static_cast<std::uint32_t>(t));
        trained_at = t;
      }
      const Settings s = gpu_settings(config, {3, 2, 0, 0}, 5000, GpuPrecision::tf32);
      EXPECT_EQ(s.trainings, expected) << preset << " " << share;
      EXPECT_EQ(s.steps.size(), expected.size() * static_cast<std::size_t>(config.posterior.training.steps));
    }
  }
}

// A mixture decides itself when it trains: it has the intervals, and step sizes for as many trainings as can be.
TEST(GpuSettings, AMixtureHasItsIntervals) {
  const PiTsConfig config = pi_ts_preset("pi-ts", "auto");
  const Settings s = gpu_settings(config, {3, 2, 0, 0}, 3000, GpuPrecision::tf32);
  ASSERT_EQ(s.mixture.intervals.size(), 3001U);
  std::size_t due = 0;
  for (std::uint64_t t = 1, trained_at = 0; t <= 3000; ++t) {
    if (!config.posterior.training.due(t, trained_at, config.posterior.memory)) continue;
    EXPECT_GE(t - trained_at, s.mixture.intervals[t]);
    trained_at = t;
    ++due;
  }
  EXPECT_GE(s.steps.size(), due * static_cast<std::size_t>(config.posterior.training.steps));
  EXPECT_EQ(s.context_size, 3 + 3);  // a level column for each
  EXPECT_EQ(s.mixture.linear.features, 3 + 3 + 1);
}

TEST(GpuSettings, TooManyFeaturesAreRefused) {
  PiTsConfig config = pi_ts_preset("pi-ts", "exact");
  const auto reason = [&](std::vector<int> hidden) {
    config.posterior.model.hidden = std::move(hidden);
    return why_not_on_gpu(config, {10, 8, 0, 0});
  };
  EXPECT_EQ(reason({50}), "");
  EXPECT_EQ(reason({300, 2000}), "");
  EXPECT_NE(reason({3000}).find("3011 features"), std::string::npos) << reason({3000});
  EXPECT_NE(reason({9000, 9000, 10}).find("layers this wide"), std::string::npos);
  config.posterior.last_layer.kind = LastLayerKind::trained;
  EXPECT_EQ(reason({3000}), "");
}

}  // namespace
}  // namespace pits::cuda
