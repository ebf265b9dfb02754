// The sums that a mixture is fitted from, beside plain sums over single observations in double.
#include "pits/posterior/mixture_sums.h"

#include <gtest/gtest.h>

#include "posterior/observations.h"

namespace pits::test {
namespace {

constexpr std::size_t K = 3;

void add(RegressionSums& sums, const Eigen::VectorXd& x, double y) {
  sums.xx += x * x.transpose();
  sums.xy += y * x;
  sums.yy += y * y;
  sums.n += 1.0;
}

// A feature that is 0 throughout adds nothing, whatever the size of the others.
void expect_equal(const RegressionSums& sums, const RegressionSums& plain) {
  ASSERT_EQ(sums.xy.size(), plain.xy.size());
  EXPECT_EQ(sums.n, plain.n);
  const double tolerance = 1e-4 * (1.0 + plain.n);
  EXPECT_NEAR(sums.yy, plain.yy, tolerance);
  EXPECT_LT((sums.xy - plain.xy).cwiseAbs().maxCoeff(), tolerance);
  const Eigen::MatrixXd difference = (sums.xx - plain.xx).triangularView<Eigen::Lower>();
  EXPECT_LT(difference.cwiseAbs().maxCoeff(), tolerance);
}

// Features (units, x where `inputs`, 1) of network i, or (x, 1) where i is none.
Eigen::VectorXd features(const Posterior& posterior, std::optional<std::size_t> i, bool inputs, const Observation& o) {
  Network::Workspace workspace;
  const std::span<const float> x = posterior.standardiser().context(o.context);
  std::vector<double> all;
  if (i) {
    const auto units = posterior.model().network().hidden(posterior.particles().row(*i), x, workspace);
    all.assign(units.begin(), units.end());
  }
  if (inputs) all.insert(all.end(), x.begin(), x.end());
  all.push_back(1.0);
  return Eigen::Map<Eigen::VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
}

void expect_plain_sums(std::span<const RegressionSums> sums, const Posterior& posterior, std::optional<std::size_t> i,
                       bool inputs) {
  const auto F = static_cast<Eigen::Index>(sums[0].xy.size());
  std::vector<RegressionSums> plain(K, RegressionSums(F));
  for (std::size_t slot = 0; slot < posterior.history().size(); ++slot) {
    const Observation o = posterior.history()[slot];
    add(plain[o.action], features(posterior, i, inputs, o), posterior.standardiser().reward(o.reward));
  }
  for (std::size_t a = 0; a < K; ++a) expect_equal(sums[a], plain[a]);
}

TEST(MixtureSums, AreThePlainSumsOfShortAndLongContextsOverSeveralPieces) {
  for (const std::size_t d : {4U, 70U}) {
    PosteriorConfig config{.particles = 2};
    config.units = UnitsKind::robust;
    config.last_layer.kind = LastLayerKind::mixture;
    Posterior posterior(config, d, K, {.seed = 5});
    for (const PlainObservation& o : linear_data(1500, d, K, 6)) observe(posterior, o);
    posterior.train(2);
    const bool inputs = d == 4;  // at most 64 are features of the networks' regressions too
    MixtureSums sums;
    sums.start(posterior, inputs, true);
    expect_plain_sums(sums.linear(), posterior, std::nullopt, true);
    for (const std::size_t i : {1U, 0U}) expect_plain_sums(sums.network(posterior, i), posterior, i, inputs);
    sums.start(posterior, inputs, false);  // without the linear model's
    expect_plain_sums(sums.network(posterior, 1), posterior, 1, inputs);
    const std::size_t x = inputs ? posterior.model().network().inputs() : 0;
    EXPECT_EQ(sums.linear()[0].xy.size(), static_cast<Eigen::Index>(x + 1)) << "no more than networks need";
  }
}

}  // namespace
}  // namespace pits::test
