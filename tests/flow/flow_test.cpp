// What a Flow remembers between calls, its noise, and the checks of its config.
#include "pits/flow/flow.h"

#include <gtest/gtest.h>

#include <cmath>

#include "flow/variants.h"

namespace pits {
namespace {

using test::PlainCloud;
using test::Rows;

const FlowKind dgf_kinds[] = {FlowKind::dgf, FlowKind::dgf_sinkhorn, FlowKind::dgf_released};

// Clouds a flow meets in successive calls.
std::vector<PlainCloud> clouds(int n) {
  std::vector<PlainCloud> out;
  for (int k = 0; k < n; ++k) out.push_back(test::random_cloud(6, 3, 100 + static_cast<std::uint64_t>(k)));
  return out;
}

// The call must equal the velocity without memory at a given θ′, to the bit.
template <class T>
void expect_previous(Flow<T>& flow, PlainCloud cloud, const Rows& previous, int call) {
  const Matrix<T> theta = test::matrix<T>(cloud.theta);
  const Matrix<T> score = test::matrix<T>(cloud.score);
  Matrix<T> v(theta.rows(), theta.cols());
  flow.velocity(theta, score, v);
  cloud.previous = previous;
  const Matrix<T> wanted = test::velocity<T>(flow.config(), cloud);
  for (std::size_t l = 0; l < v.size(); ++l) ASSERT_EQ(v.data()[l], wanted.data()[l]) << "call " << call;
}

template <class T>
class FlowMemory : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FlowMemory, Reals);

TYPED_TEST(FlowMemory, LooksBackOneCallAndAtTheFirstNowhere) {
  const auto seen = clouds(4);
  for (const FlowKind kind : dgf_kinds) {
    Flow<TypeParam> flow({.kind = kind});
    for (int k = 0; k < 4; ++k) {
      const auto now = static_cast<std::size_t>(k);
      expect_previous(flow, seen[now], seen[k == 0 ? 0 : now - 1].theta, k);
    }
  }
}

TYPED_TEST(FlowMemory, HoldsTheEarlierCloudForTheInnerSteps) {
  const auto seen = clouds(8);
  for (const FlowKind kind : dgf_kinds) {
    for (const int n : {2, 3}) {
      Flow<TypeParam> flow({.kind = kind, .inner_steps = n});
      for (int k = 0; k < 8; ++k) {
        expect_previous(flow, seen[static_cast<std::size_t>(k)], seen[static_cast<std::size_t>(k - k % n)].theta, k);
      }
    }
  }
}

TEST(Flow, NoiseIsOneForSgldBetaForSposAndNoneElsewhere) {
  for (const test::Variant& f : test::every_flow()) {
    const double wanted = f.name == "sgld" ? 1.0 : f.name == "spos" ? 0.4 : 0.0;
    EXPECT_EQ(Flow<float>(f.config).temperature(), wanted) << f.name;
  }
}

TEST(Flow, DiffusionHasVarianceTwiceTemperatureTimesStep) {
  Matrix<double> theta(200, 100);
  Stream stream({.seed = 1, .purpose = Purpose::diffusion});
  add_diffusion<double>(0.3, 0.01, stream, theta);
  double square = 0.0;
  double mean = 0.0;
  for (const double x : theta.flat()) {
    mean += x / 20000.0;
    square += x * x / 20000.0;
  }
  const double variance = 2.0 * 0.3 * 0.01;
  EXPECT_NEAR(mean, 0.0, 4.0 * std::sqrt(variance / 20000.0));
  EXPECT_NEAR(square, variance, 4.0 * variance * std::sqrt(2.0 / 20000.0));
}

TEST(Flow, RefusesValuesOutOfRange) {
  EXPECT_THROW(Flow<float>({.entropy = -1.0}), Error);
  EXPECT_THROW(Flow<float>({.gamma = -0.1}), Error);
  EXPECT_THROW(Flow<float>({.tau = 0.0}), Error);
  EXPECT_THROW(Flow<float>({.inner_steps = 0}), Error);
  EXPECT_THROW(Flow<float>({.beta = NAN}), Error);
  EXPECT_THROW(Flow<float>({.ridge = 0.0}), Error);
}

TEST(Flow, EveryNameParsesToItsKindAndHasASummary) {
  const auto& names = enum_names<FlowKind>;
  EXPECT_EQ(names.size(), flow_summaries().size());
  for (std::size_t k = 0; k < names.size(); ++k) {
    FlowConfig config;
    fields(config).set("flow", names[k]);
    EXPECT_EQ(config.kind, static_cast<FlowKind>(k));
    EXPECT_FALSE(flow_summaries()[k].empty());
  }
  EXPECT_EQ(names.back(), std::string_view("sgld"));
}

}  // namespace
}  // namespace pits
