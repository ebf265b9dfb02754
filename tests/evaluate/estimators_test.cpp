// Estimators on the small log of six rounds whose values follow by hand (fractions), and what must hold for any log.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "pits/evaluate/estimators/dros.h"
#include "pits/evaluate/estimators/estimator.h"
#include "pits/evaluate/intervals/interval.h"

namespace pits {
namespace {

using std::vector;

struct SmallLog {
  vector<Action> a;
  vector<double> r, p;
  vector<vector<double>> pi, q;

  PolicyTerms terms() {
    PolicyTerms t;
    for (std::size_t i = 0; i < a.size(); ++i) {
      t.probability.push_back(pi[i][a[i]]);
      t.weight.push_back(pi[i][a[i]] / p[i]);
      t.model_value.push_back(std::inner_product(pi[i].begin(), pi[i].end(), q[i].begin(), 0.0));
      logged.push_back(q[i][a[i]]);
    }
    t.reward = r;
    t.model_logged = logged;
    return t;
  }
  vector<double> logged{};
};

SmallLog six_rounds() {
  return {.a = {0, 1, 2, 0, 1, 2},
          .r = {1, 0, 1, 0, 1, 0},
          .p = {.5, .25, .25, .5, .4, .1},
          .pi = {{.2, .6, .2}, {.2, .6, .2}, {.2, .6, .2}, {.1, .1, .8}, {.1, .1, .8}, {.1, .1, .8}},
          .q = {{.6, .4, .5}, {.6, .4, .5}, {.6, .4, .5}, {.2, .7, .3}, {.2, .7, .3}, {.2, .7, .3}}};
}

double value(EstimatorKind kind, const PolicyTerms& terms, std::optional<double> lambda = {}) {
  return ratios_of(kind, terms, lambda).value();
}

TEST(Estimators, SixRoundsByHand) {
  SmallLog log = six_rounds();
  const PolicyTerms t = log.terms();
  const vector<double> w = {.4, 2.4, .8, .2, .25, 8};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(t.weight[i], w[i], 1e-15);
  EXPECT_NEAR(value(EstimatorKind::ips, t), 29.0 / 120.0, 1e-15);
  EXPECT_NEAR(value(EstimatorKind::snips, t), 29.0 / 241.0, 1e-15);
  EXPECT_NEAR(value(EstimatorKind::dm, t), .395, 1e-15);
  EXPECT_NEAR(value(EstimatorKind::dr, t), -.0658333333333333, 1e-14);
  EXPECT_NEAR(value(EstimatorKind::dros, t, 1.0), .4341709, 5e-8);
  EXPECT_NEAR(value(EstimatorKind::dros, t, 4.0), .3947161, 5e-8);
  EXPECT_NEAR(value(EstimatorKind::dros, t, 100.0), .0985066, 5e-8);
  // Σ π r / Σ π = (.2 + .2 + .1) / (.2 + .6 + .2 + .1 + .1 + .8)
  EXPECT_NEAR(value(EstimatorKind::replay, t), .5 / 2.0, 1e-15);
}

SmallLog random_log() {
  SmallLog log;
  const auto n = *rc::gen::inRange<std::size_t>(2, 40), K = *rc::gen::inRange<std::size_t>(2, 5);
  const auto unit = [] { return *rc::gen::inRange(1, 1000) / 1000.0; };
  const auto shares = [&] {
    vector<double> p(K);
    for (double& v : p) v = unit();
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& v : p) v /= sum;
    return p;
  };
  for (std::size_t i = 0; i < n; ++i) {
    log.a.push_back(static_cast<Action>(*rc::gen::inRange<std::size_t>(0, K)));
    log.r.push_back(4.0 * unit() - 2.0);
    log.p.push_back(shares()[log.a.back()]);
    log.pi.push_back(shares());
    log.q.push_back(shares());
  }
  return log;
}

void near(double a, double b) { RC_ASSERT(std::abs(a - b) <= 1e-9 * (1.0 + std::abs(a))); }

RC_GTEST_PROP(Estimators, DrIsIpsWithoutAModel, ()) {
  SmallLog log = random_log();
  for (auto& q : log.q) std::fill(q.begin(), q.end(), 0.0);
  const PolicyTerms t = log.terms();
  near(value(EstimatorKind::dr, t), value(EstimatorKind::ips, t));
}

RC_GTEST_PROP(Estimators, DrIsDmWhereTheModelIsRight, ()) {
  SmallLog log = random_log();
  for (std::size_t i = 0; i < log.r.size(); ++i) log.r[i] = log.q[i][log.a[i]];
  const PolicyTerms t = log.terms();
  near(value(EstimatorKind::dr, t), value(EstimatorKind::dm, t));
}

RC_GTEST_PROP(Estimators, ShrinkageGoesFromDmToDr, ()) {
  SmallLog log = random_log();
  const PolicyTerms t = log.terms();
  near(value(EstimatorKind::dros, t, 0.0), value(EstimatorKind::dm, t));
  near(value(EstimatorKind::dros, t, std::numeric_limits<double>::infinity()), value(EstimatorKind::dr, t));
  RC_ASSERT(std::abs(value(EstimatorKind::dros, t, 1e12) - value(EstimatorKind::dr, t)) < 1e-5);
}

RC_GTEST_PROP(Estimators, SnipsMovesWithTheRewards, ()) {
  SmallLog log = random_log();
  const double before = value(EstimatorKind::snips, log.terms());
  log.logged.clear();
  for (double& r : log.r) r += 3.0;
  near(value(EstimatorKind::snips, log.terms()), before + 3.0);
}

RC_GTEST_PROP(Estimators, TheOrderOfRoundsDoesNotMatter, ()) {
  SmallLog log = random_log();
  SmallLog turned = log;
  std::reverse(turned.a.begin(), turned.a.end());
  std::reverse(turned.r.begin(), turned.r.end());
  std::reverse(turned.p.begin(), turned.p.end());
  std::reverse(turned.pi.begin(), turned.pi.end());
  std::reverse(turned.q.begin(), turned.q.end());
  const PolicyTerms t = log.terms(), u = turned.terms();
  for (const EstimatorKind kind : all_estimators) {
    const RoundRatios a = ratios_of(kind, t), b = ratios_of(kind, u);
    near(a.value(), b.value());
    near(standard_error(a.influence(), self_normalised(kind)), standard_error(b.influence(), self_normalised(kind)));
  }
}

TEST(Estimators, TheRuleTakesNoShrinkageWhereWeightsAreEven) {
  SmallLog log = six_rounds();
  PolicyTerms t = log.terms();
  std::fill(t.weight.begin(), t.weight.end(), 1.0);
  const double lambda = shrinkage_of(t);
  EXPECT_GE(lambda, 1.0);
}

}  // namespace
}  // namespace pits
