// The batched velocities against the plain loops, and the properties that every flow shares.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "flow/variants.h"
#include "pits/flow/transport.h"

namespace pits {
namespace {

using test::PlainCloud;
using test::Row;
using test::Rows;
using test::Variant;

// GFSF is the worst conditioned: it solves with K + εI, ε = 0.01 and K of at most M = 12 particles, whose condition is
// at most (M + ε)/ε = 1201, so that float, rounding at 2⁻²⁴ = 6e-8, is off by 7e-5 and a small factor, here 4. In
// double Sinkhorn's plan, balanced to 1e-10, is off by more than rounding.
template <class T>
constexpr double rounding = std::is_same_v<T, float> ? 3e-4 : 1e-9;

// The largest difference, in units of the largest velocity (at least 1).
template <class T>
double difference(const Matrix<T>& v, const Rows& wanted) {
  double worst = 0.0;
  double largest = 1.0;
  for (std::size_t i = 0; i < v.rows(); ++i) {
    for (std::size_t l = 0; l < v.cols(); ++l) {
      if (!std::isfinite(v(i, l))) return INFINITY;
      worst = std::max(worst, std::abs(static_cast<double>(v(i, l)) - wanted[i][l]));
      largest = std::max(largest, std::abs(wanted[i][l]));
    }
  }
  return worst / largest;
}

template <class T>
void check_against_plain_loops() {
  const auto M = *rc::gen::inRange<std::size_t>(1, 13);
  const auto P = *rc::gen::inRange<std::size_t>(1, 40);
  const PlainCloud cloud = test::random_cloud(M, P, *rc::gen::arbitrary<std::uint64_t>());
  for (Variant f : test::every_flow()) {
    for (const bool fixed : {false, true}) {
      const double typical = static_cast<double>(P);
      f.config.bandwidth = fixed ? Scale::fixed(0.6 * typical) : Scale{};
      f.config.lambda = fixed ? Scale::fixed(1.5 * typical) : Scale{};
      if (!test::has_plain_velocity(f.config, cloud)) continue;
      const double off = difference(test::velocity<T>(f.config, cloud), test::plain_velocity(f.config, cloud));
      RC_LOG() << f.name << (fixed ? " fixed" : " median") << " off by " << off << '\n';
      RC_ASSERT(off < rounding<T>);
    }
  }
}

RC_GTEST_PROP(Velocity, AgreesWithThePlainLoopsInDouble, ()) { check_against_plain_loops<double>(); }
RC_GTEST_PROP(Velocity, AgreesWithThePlainLoopsInFloat, ()) { check_against_plain_loops<float>(); }

template <class T>
class EveryFlow : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(EveryFlow, Reals);

TYPED_TEST(EveryFlow, GivesOneParticleItsScore) {
  const PlainCloud cloud = test::random_cloud(1, 5, 2);
  for (Variant f : test::every_flow()) {
    for (const Scale& scale : {Scale{}, Scale::fixed(1.0)}) {
      f.config.bandwidth = f.config.lambda = scale;
      EXPECT_EQ(difference(test::velocity<TypeParam>(f.config, cloud), cloud.score), 0.0) << f.name;
    }
  }
}

// k = 1 and no repulsion: the scores as they are, or their mean where the kernel weighs the neighbours'.
TYPED_TEST(EveryFlow, NeitherRepelsNorTransportsEqualParticles) {
  PlainCloud cloud = test::random_cloud(6, 4, 3);
  for (Row& row : cloud.theta) row = cloud.theta[0];
  cloud.previous = cloud.theta;
  Rows mean = test::zeros(6, 4);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t l = 0; l < 4; ++l) {
      for (std::size_t j = 0; j < 6; ++j) mean[i][l] += cloud.score[j][l] / 6.0;
    }
  }
  for (Variant f : test::every_flow()) {
    const FlowKind kind = f.config.kind;
    const bool dgf = kind == FlowKind::dgf || kind == FlowKind::dgf_sinkhorn || kind == FlowKind::dgf_released;
    const bool svgd = kind == FlowKind::svgd || kind == FlowKind::spos || (dgf && f.config.drive == Drive::svgd);
    Rows wanted = svgd && f.config.score_at == ScoreAt::neighbour ? mean : cloud.score;
    for (std::size_t i = 0; kind == FlowKind::spos && i < 6; ++i) {
      for (std::size_t l = 0; l < 4; ++l) wanted[i][l] += f.config.beta * cloud.score[i][l];
    }
    for (const Scale& scale : {Scale{}, Scale::fixed(0.5)}) {
      f.config.bandwidth = f.config.lambda = scale;
      EXPECT_LT(difference(test::velocity<TypeParam>(f.config, cloud), wanted), 1e-6) << f.name;
    }
  }
}

// Four of five equal: 17 of 25 distances are 0, so the median is, and yet one particle stands apart.
TYPED_TEST(EveryFlow, IsFiniteWhereDuplicatesMakeTheMedianZero) {
  PlainCloud cloud = test::random_cloud(5, 3, 4);
  for (std::size_t i = 1; i < 4; ++i) cloud.theta[i] = cloud.theta[0];
  for (const bool moved : {false, true}) {
    if (!moved) cloud.previous = cloud.theta;
    if (moved) cloud.previous = test::random_cloud(5, 3, 5).theta;
    for (const Variant& f : test::every_flow()) {
      const Matrix<TypeParam> v = test::velocity<TypeParam>(f.config, cloud);
      for (const TypeParam x : v.flat()) EXPECT_TRUE(std::isfinite(x)) << f.name << (moved ? ", moved" : "");
    }
  }
}

// θ on a grid of 1/256, so that θ + 1024 is exact in float: a velocity depends on differences only.
TYPED_TEST(EveryFlow, DoesNotSeeWhereTheOriginIs) {
  PlainCloud cloud = test::random_cloud(8, 3, 6);
  const auto on_grid = [](double x) { return std::round(256.0 * x) / 256.0; };
  for (Rows* rows : {&cloud.theta, &cloud.previous}) {
    for (Row& row : *rows) std::ranges::transform(row, row.begin(), on_grid);
  }
  PlainCloud far = cloud;
  for (Rows* rows : {&far.theta, &far.previous}) {
    for (Row& row : *rows) std::ranges::transform(row, row.begin(), [](double x) { return x + 1024.0; });
  }
  for (const Variant& f : test::every_flow()) {
    const Matrix<TypeParam> here = test::velocity<TypeParam>(f.config, cloud);
    const Matrix<TypeParam> there = test::velocity<TypeParam>(f.config, far);
    for (std::size_t l = 0; l < here.size(); ++l) EXPECT_NEAR(here.data()[l], there.data()[l], 1e-6) << f.name;
  }
}

RC_GTEST_PROP(Velocity, PermutedParticlesHavePermutedVelocities, ()) {
  const auto M = *rc::gen::inRange<std::size_t>(2, 10);
  const PlainCloud cloud = test::random_cloud(M, 4, *rc::gen::arbitrary<std::uint64_t>());
  std::vector<std::size_t> order(M);
  std::iota(order.begin(), order.end(), 0);
  Stream stream({.seed = *rc::gen::arbitrary<std::uint64_t>()});
  for (std::size_t i = M; i > 1; --i) std::swap(order[i - 1], order[stream.index(static_cast<std::uint32_t>(i))]);
  PlainCloud permuted = cloud;
  for (std::size_t i = 0; i < M; ++i) {
    permuted.theta[i] = cloud.theta[order[i]];
    permuted.score[i] = cloud.score[order[i]];
    permuted.previous[i] = cloud.previous[order[i]];
  }
  for (const Variant& f : test::every_flow()) {
    const Matrix<double> v = test::velocity<double>(f.config, cloud);
    Rows wanted = test::zeros(M, 4);
    for (std::size_t i = 0; i < M; ++i) std::ranges::copy(v.row(order[i]), wanted[i].begin());
    RC_LOG() << f.name << '\n';
    RC_ASSERT(difference(test::velocity<double>(f.config, permuted), wanted) < 1e-8);
  }
}

// θ = θ′ = (0, 1), γ = 1, so c = 1 between the two: v_1 = −½ (1/λ − 1) e^{−1/λ} (0 − 1), v_2 = −v_1.
TYPED_TEST(EveryFlow, TransportPullsBeyondRootLambdaAndPushesWithin) {
  const Matrix<TypeParam> theta = test::matrix<TypeParam>({{0.0}, {1.0}});
  const Matrix<TypeParam> score(2, 1);
  const auto first_velocity = [&](double lambda) {
    Workspace<TypeParam> w;
    Matrix<TypeParam> v(2, 1);
    const Cloud<TypeParam> cloud{.theta = theta, .score = score, .previous = theta};
    Velocity<TypeParam> transport;
    add_transport<TypeParam>(cloud, Scale::fixed(lambda), 1.0, w, transport);
    transport.evaluate(cloud, v);
    EXPECT_FLOAT_EQ(v(0, 0), -v(1, 0));
    return v(0, 0);
  };
  EXPECT_NEAR(first_velocity(0.5), 0.0676676, 1e-6);   // ½ e^{−2}: towards the other, at distance √2·√λ
  EXPECT_NEAR(first_velocity(2.0), -0.1516327, 1e-6);  // −¼ e^{−1/2}: away from it, at distance √λ/√2
  EXPECT_EQ(first_velocity(1.0), TypeParam(0));        // at √λ itself
}

TYPED_TEST(EveryFlow, EntropyScalesTheRepulsion) {
  PlainCloud cloud = test::random_cloud(7, 3, 8);
  for (const FlowKind kind : {FlowKind::svgd, FlowKind::spos, FlowKind::blob, FlowKind::gfsd, FlowKind::gfsf}) {
    const auto at = [&](double entropy) {
      return test::velocity<TypeParam>({.kind = kind, .entropy = entropy}, cloud);
    };
    const Matrix<TypeParam> none = at(0.0);
    const Matrix<TypeParam> one = at(1.0);
    const Matrix<TypeParam> thrice = at(3.0);
    double repulsion = 0.0;
    for (std::size_t l = 0; l < one.size(); ++l) {
      repulsion = std::max(repulsion, std::abs(static_cast<double>(one.data()[l] - none.data()[l])));
      EXPECT_NEAR(thrice.data()[l] - none.data()[l], 3.0 * (one.data()[l] - none.data()[l]), rounding<TypeParam>);
    }
    EXPECT_GT(repulsion, 1e-2);
  }
}

TYPED_TEST(EveryFlow, SvgdWithOwnScoresIsGfsdTimesTheShareOfNeighbours) {
  const PlainCloud cloud = test::random_cloud(9, 4, 9);
  const Matrix<TypeParam> own = test::velocity<TypeParam>({.kind = FlowKind::svgd, .score_at = ScoreAt::own}, cloud);
  const Matrix<TypeParam> gfsd = test::velocity<TypeParam>({.kind = FlowKind::gfsd}, cloud);
  const Rows k = test::rbf(cloud.theta, test::plain_median(test::costs(cloud.theta, cloud.theta)) / std::log(10.0));
  for (std::size_t i = 0; i < 9; ++i) {
    const double share = test::sum(k[i]) / 9.0;
    for (std::size_t l = 0; l < 4; ++l) EXPECT_NEAR(own(i, l), share * gfsd(i, l), rounding<TypeParam>);
  }
}

// c/λ overflows to infinity: the force is e^{−∞} = 0, not 0·∞.
TEST(Transport, OfALengthFarBelowEveryDistanceIsZero) {
  Matrix<double> theta(2, 1), previous(2, 1);
  const Matrix<double> score(2, 1);
  theta(1, 0) = 1e5;
  previous(0, 0) = 3.0;
  previous(1, 0) = -7.0;
  Matrix<double> v(2, 1);
  Workspace<double> w;
  Velocity<double> transport;
  add_transport<double>({theta, score, previous}, Scale::fixed(1e-310), 1.0, w, transport);
  transport.evaluate({theta, score, previous}, v);
  EXPECT_EQ(v(0, 0), 0.0);
  EXPECT_EQ(v(1, 0), 0.0);
}

}  // namespace
}  // namespace pits
