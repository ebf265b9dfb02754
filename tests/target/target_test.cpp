// What holds for every target of the catalogue.
#include "pits/target/target.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "pits/core/error.h"
#include "target/statistics.h"

namespace pits {
namespace {

class EveryTarget : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Target> target_ = make_target(GetParam());
};

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const TargetEntry& entry : target_catalogue()) names.push_back(entry.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryTarget, testing::ValuesIn(target_names()),
                         [](const auto& name) { return name.param; });

// Where the density is and somewhat outside: an exact draw plus noise.
std::vector<double> point_near(const Target& target, std::uint64_t seed, double noise) {
  Stream stream({.seed = seed});
  std::vector<double> theta(target.dimension());
  target.sample(stream, theta);
  for (double& x : theta) x += noise * stream.normal();
  return theta;
}

TEST_P(EveryTarget, ScoreIsTheGradientOfTheLogDensity) {
  const bool held = rc::check("score = central difference", [&] {
    const auto noise = *rc::gen::element(0.0, 0.5, 2.0);
    std::vector<double> theta = point_near(*target_, *rc::gen::arbitrary<std::uint64_t>(), noise);
    RC_PRE(std::hypot(theta[0], theta[1]) > 0.1);  // the ring has a kink at the origin
    std::vector<double> score(theta.size());
    target_->score(theta, score);
    const double scale = 1.0 + std::hypot(score[0], score[1]);
    for (std::size_t j = 0; j < theta.size(); ++j) {
      const double h = 1e-5;
      const double x = theta[j];
      theta[j] = x + h;
      const double above = target_->log_density(theta);
      theta[j] = x - h;
      const double below = target_->log_density(theta);
      theta[j] = x;
      RC_ASSERT(std::abs((above - below) / (2.0 * h) - score[j]) < 1e-5 * scale);
    }
  });
  EXPECT_TRUE(held);
}

// Stein's identities E[s_j] = 0 and E[θ_i s_j] = −δ_ij tie the sampler to the score, whatever the density.
TEST_P(EveryTarget, ExactDrawsSatisfySteinsIdentities) {
  const Matrix<double> theta = exact_cloud(*target_, 40000, 1, 0);
  Matrix<double> score(theta.rows(), 2);
  target_scores(*target_, theta, score.view());
  for (std::size_t j = 0; j < 2; ++j) {
    for (int i = -1; i < 2; ++i) {
      std::vector<double> terms;
      for (std::size_t n = 0; n < theta.rows(); ++n) {
        terms.push_back(score(n, j) * (i < 0 ? 1.0 : theta(n, static_cast<std::size_t>(i))));
      }
      const double expected = i == static_cast<int>(j) ? -1.0 : 0.0;
      EXPECT_NEAR(moments(terms).mean, expected, 4.5 * standard_error(terms)) << "theta " << i << " score " << j;
    }
  }
}

constexpr std::size_t cells = 10;  // a side of the window

// The probability of each cell, given the window, from the log density alone.
std::vector<double> cell_probabilities(const Target& target) {
  constexpr std::size_t fine = 60;
  const DensityGrid grid = density_grid(target, target.window(), cells * fine, cells * fine);
  std::vector<double> probability(cells * cells);
  double total = 0.0;
  for (const double p : grid.value.flat()) total += p;
  for (std::size_t y = 0; y < cells * fine; ++y) {
    for (std::size_t x = 0; x < cells * fine; ++x) probability[y / fine * cells + x / fine] += grid.value(y, x) / total;
  }
  return probability;
}

// Draws in each cell; those outside the window are left out.
std::vector<double> cell_counts(const Matrix<double>& theta, const Window& w) {
  std::vector<double> count(cells * cells);
  for (std::size_t n = 0; n < theta.rows(); ++n) {
    const double x = (theta(n, 0) - w.x_low) / (w.x_high - w.x_low) * cells;
    const double y = (theta(n, 1) - w.y_low) / (w.y_high - w.y_low) * cells;
    if (x < 0 || x >= cells || y < 0 || y >= cells) continue;
    count[static_cast<std::size_t>(y) * cells + static_cast<std::size_t>(x)] += 1.0;
  }
  return count;
}

// Pearson's statistic; cells that expect fewer than 10 draws count as one.
TEST_P(EveryTarget, ExactDrawsFillTheCellsOfTheWindowAsTheDensitySays) {
  const std::vector<double> probability = cell_probabilities(*target_);
  const std::vector<double> count = cell_counts(exact_cloud(*target_, 20000, 2, 0), target_->window());
  double inside = 0.0;
  for (const double c : count) inside += c;
  EXPECT_GT(inside, 0.98 * 20000) << "the window shows nearly all of the density";
  double statistic = 0.0, groups = 0.0, rest_count = 0.0, rest_expected = 0.0;
  const auto add = [&](double observed, double expected) {
    statistic += (observed - expected) * (observed - expected) / expected;
    groups += 1.0;
  };
  for (std::size_t c = 0; c < cells * cells; ++c) {
    const double expected = inside * probability[c];
    if (expected >= 10.0) {
      add(count[c], expected);
    } else {
      rest_count += count[c];
      rest_expected += expected;
    }
  }
  add(rest_count, rest_expected);
  const double degrees = groups - 1.0;
  EXPECT_GT(degrees, 15.0);
  EXPECT_LT(statistic, degrees + 4.0 * std::sqrt(2.0 * degrees));
}

TEST_P(EveryTarget, CloudsHaveAddresses) {
  const Matrix<double> a = exact_cloud(*target_, 50, 7, 3);
  const Matrix<double> again = exact_cloud(*target_, 50, 7, 3);
  const Matrix<double> longer = exact_cloud(*target_, 60, 7, 3);
  const Matrix<double> other = exact_cloud(*target_, 50, 7, 4);
  EXPECT_TRUE(std::ranges::equal(a.flat(), again.flat()));
  EXPECT_TRUE(std::ranges::equal(a.flat(), longer.flat().first(a.size())));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NE(a.flat()[i], other.flat()[i]);
}

TEST_P(EveryTarget, DensityGridIsScaledAndUpright) {
  const Window w = target_->window();
  const DensityGrid grid = density_grid(*target_, w, 30, 20);
  ASSERT_EQ(grid.value.rows(), 20U);
  ASSERT_EQ(grid.value.cols(), 30U);
  EXPECT_EQ(*std::ranges::max_element(grid.value.flat()), 1.0);
  EXPECT_GE(*std::ranges::min_element(grid.value.flat()), 0.0);
  const auto at = [&](std::size_t ix, std::size_t iy) {
    const double theta[2] = {w.x_low + (static_cast<double>(ix) + 0.5) * (w.x_high - w.x_low) / 30.0,
                             w.y_low + (static_cast<double>(iy) + 0.5) * (w.y_high - w.y_low) / 20.0};
    return target_->log_density(theta);
  };
  EXPECT_NEAR(std::log(grid.value(3, 12) / grid.value(9, 17)), at(12, 3) - at(17, 9), 1e-9);
}

TEST(TargetCatalogue, NamesAndSummariesAreThere) {
  EXPECT_EQ(target_names(), (std::vector<std::string>{"gaussian", "mixture", "banana", "ring", "funnel", "logistic"}));
  for (const TargetEntry& entry : target_catalogue()) {
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_EQ(entry.make()->dimension(), 2U);
  }
}

TEST(TargetCatalogue, UnknownNameSuggestsTheNearest) {
  try {
    make_target("bananna");
    FAIL() << "must throw";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
    EXPECT_NE(std::string(e.what()).find("did you mean 'banana'"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace pits
