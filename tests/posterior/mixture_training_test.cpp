// Trainings of a mixture with contexts too long to be features: what they leave behind where they fail, and how old
// observations of the linear model become.
#include <gtest/gtest.h>

#include <limits>

#include "pits/core/error.h"
#include "pits/core/io/archive.h"
#include "posterior/observations.h"

namespace pits::test {
namespace {

constexpr std::size_t M = 2, K = 3, d = 70;

PosteriorConfig small_mixture() {
  PosteriorConfig config{.particles = static_cast<int>(M)};
  config.model.hidden = {6, 5};
  config.units = UnitsKind::robust;
  config.batch = 16;
  config.training = {.every = 9, .steps = 2};
  config.last_layer.kind = LastLayerKind::mixture;
  config.last_layer.held_draws = 3;
  return config;
}

void learn(Posterior& posterior, const PlainObservation& o) {
  const std::vector<float> x(o.x.begin(), o.x.end());
  posterior.learn(
      {.context = x, .action = static_cast<std::uint32_t>(o.action), .reward = static_cast<float>(o.reward)});
}

std::string saved(Mixture mixture) {
  Archive archive;
  archive(mixture);
  return archive.bytes();
}

std::vector<float> numbers(const Posterior& posterior) {
  const auto flat = posterior.particles().flat();
  return {flat.begin(), flat.end()};
}

void expect_same(const Posterior& a, const Posterior& b, std::span<const float> x) {
  EXPECT_EQ(numbers(a), numbers(b));
  const std::span<const float> seen = a.standardiser().context(x);
  const std::vector<float> z(seen.begin(), seen.end());
  EXPECT_TRUE(std::ranges::equal(b.standardiser().context(x), z));
  EXPECT_EQ(saved(*a.mixture()), saved(*b.mixture()));
  EXPECT_EQ(a.steps_done(), b.steps_done());
}

// One step of 1e14 by the sign of the velocity leaves numbers that are no divergence, but the unit of the second layer
// has squares beyond float: no regression on it can be solved, unless it is 0 for all contexts. Whether the first
// network, the second or both fail depends on the seed. True if one has, and a later training is then that of a
// posterior which never failed, units and the linear model included.
bool fails_and_is_undone(std::uint64_t seed, std::size_t trained) {
  PosteriorConfig config = small_mixture();
  config.model.hidden = {2, 1};
  config.flow.kind = FlowKind::ensemble;
  config.optimizer = {.rule = Rule::sign, .step = 1e14};
  config.memory.adaptive = true;
  Posterior posterior(config, d, K, {.seed = seed}), spared(config, d, K, {.seed = seed});
  const std::vector<PlainObservation> data = linear_data(60, d, K, 6);
  for (Posterior* p : {&posterior, &spared}) {
    for (std::size_t t = 0; t < trained; ++t) observe(*p, data[t]);
    if (trained > 0) p->train(0);
    for (std::size_t t = trained; t < data.size(); ++t) observe(*p, data[t]);
  }
  try {
    posterior.train(1);
    return false;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("singular"), std::string::npos) << e.what();
  }
  const std::vector<float> x(data[0].x.begin(), data[0].x.end());
  expect_same(posterior, spared, x);
  EXPECT_FALSE(posterior.training_due()) << "before an interval has passed";
  for (Posterior* p : {&posterior, &spared}) p->train(0);
  expect_same(posterior, spared, x);
  double n = 0.0;
  for (std::size_t a = 0; a < K; ++a) n += posterior.mixture()->regressions(M).n(a);
  EXPECT_EQ(n, 60.0) << "units were due";
  return true;
}

TEST(MixtureTraining, OneWhoseRegressionsFailIsUndone) {
  for (const std::size_t trained : {0U, 30U}) {  // before and after the first one that succeeds
    int failed = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) failed += fails_and_is_undone(seed, trained) ? 1 : 0;
    EXPECT_GE(failed, 5);
    EXPECT_LE(failed, 19) << "some networks should be fitted before another fails";
  }
}

// What cannot be solved changes nothing, though an action before it could be.
TEST(MixtureTraining, RegressionsThatFailAreAsTheyWere) {
  constexpr Eigen::Index F = 3;
  const std::vector<CoefficientGroup> group = {{.first = 0, .count = F, .precision = 2.0, .low = 1e-4, .high = 1e4}};
  FeatureRegressions regressions(group, 2, 3, {});
  Stream stream({.seed = 3});
  std::vector<RegressionSums> sums(2, RegressionSums(F));
  for (int t = 0; t < 40; ++t) {
    RegressionSums& of = sums[t % 2];
    const Eigen::VectorXd x = Eigen::VectorXd::NullaryExpr(F, [&] { return stream.normal(); });
    const double y = x[0] + stream.normal();
    of.xx += x * x.transpose();
    of.xy += y * x;
    of.yy += y * y;
    of.n += 1.0;
  }
  regressions.fit(sums, {.seed = 1});
  const auto state = [&] {
    Archive archive;
    archive(regressions);
    return archive.bytes();
  };
  const std::string before = state();
  sums[0].xy[0] += 1.0;
  sums[1].xx(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(regressions.fit(sums, {.seed = 2}), Error);
  EXPECT_EQ(state(), before);
}

// Of the last 40: a quarter of them may be new, and what came since the last training.
TEST(MixtureTraining, TheLinearModelForgetsWhatIsBeyondTheCapacity) {
  PosteriorConfig config = small_mixture();
  config.memory.capacity = 40;
  Posterior posterior(config, d, K, {.seed = 7});
  std::size_t refits = 0;
  double before = 0.0;
  for (const PlainObservation& o : linear_data(500, d, K, 8)) {
    learn(posterior, o);
    double n = 0.0;
    for (std::size_t a = 0; a < K; ++a) n += posterior.mixture()->regressions(M).n(a);
    EXPECT_LE(n, 40.0 + 10.0 + 9.0);
    refits += n < before ? 1 : 0;
    before = n;
  }
  EXPECT_GE(refits, (500U - 60U) / 18U);
}

}  // namespace
}  // namespace pits::test
