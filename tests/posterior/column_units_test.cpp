// Robust units of one column.
#include "pits/posterior/column_units.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "pits/core/random.h"
#include "pits/posterior/standardiser.h"

namespace pits::test {
namespace {

using Numbers = std::vector<float>;

Numbers normals(std::size_t n, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  Numbers x(n);
  for (float& v : x) v = static_cast<float>(stream.normal());
  return x;
}

Numbers mapped(Numbers x, const std::function<double(double)>& f) {
  for (float& v : x) v = static_cast<float>(f(v));
  return x;
}

ColumnUnits units_of(Numbers sample) {
  std::ranges::sort(sample);
  return find_units({sample.data(), sample.size()});
}

// As many standard deviations as plain standardisation would have, in two passes.
double plain(const Numbers& x, double v) {
  double mean = 0.0, squares = 0.0;
  for (const double u : x) mean += u / static_cast<double>(x.size());
  for (const double u : x) squares += (u - mean) * (u - mean) / static_cast<double>(x.size());
  return (v - mean) / std::sqrt(squares);
}

TEST(ColumnUnits, OrdinaryColumnsAreStandardised) {
  const Numbers normal = normals(500, 1);
  const Numbers skew = mapped(normal, [](double z) { return std::exp(0.5 * z); });
  const Numbers rare = mapped(normal, [](double z) { return z > 2.0 ? 1.0 : 0.0; });  // a level of few, as one-hot
  const Numbers counts = mapped(normal, [](double z) { return z > 0.0 ? std::floor(3.0 * z) : 0.0; });
  for (const Numbers& x : {normal, skew, rare, counts}) {
    const ColumnUnits units = units_of(x);
    EXPECT_TRUE(units.levels.empty() && !units.tails);
    for (const float v : x) EXPECT_NEAR(units(v), std::clamp(plain(x, v), -10.0, 10.0), 1e-5);
  }
}

TEST(ColumnUnits, ANumberThatRepeatsFarFromTheOthersIsALevel) {
  Numbers x = normals(200, 2), others;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % 10 == 0) {
      x[i] = -999.0F;
    } else if (i % 10 == 1) {
      x[i] = 9999.0F;
    } else {
      others.push_back(x[i]);
    }
  }
  const ColumnUnits units = units_of(x);
  ASSERT_EQ(units.levels.size(), 2U);
  EXPECT_EQ(units(-999.0F), 0.0F);
  EXPECT_EQ(units(9999.0F), 0.0F);
  for (const float v : others) {
    EXPECT_EQ(units.level(v), nullptr);
    EXPECT_NEAR(units(v), plain(others, v), 1e-5);  // as if the levels were not there
  }
}

TEST(ColumnUnits, OneOutlierOrTwoValuesAreNoLevel) {
  Numbers x = normals(200, 3);
  x[7] = -999.0F;
  EXPECT_TRUE(units_of(x).levels.empty());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 3 == 0 ? -999.0F : 1.0F;
  EXPECT_TRUE(units_of(x).levels.empty());
}

// Cauchy contexts: the unit is four widths of the middle, and the order stays until all are 10.
TEST(ColumnUnits, HeavyTailsAreBentInOrder) {
  const auto cauchy = [](double z) {
    return std::tan(std::numbers::pi * (0.5 * std::erfc(-z / std::numbers::sqrt2) - 0.5));
  };
  Numbers x = mapped(normals(1001, 4), cauchy);
  const ColumnUnits units = units_of(x);
  ASSERT_TRUE(units.tails);
  std::ranges::sort(x);
  const double unit = 4.0 * 0.5 * (x[840] - x[160]);
  for (std::size_t i = 1; i < x.size(); ++i) EXPECT_LE(units(x[i - 1]), units(x[i]));
  EXPECT_NEAR(units(1.0F) - units(-1.0F), 2.0 / unit, 1e-5);
  EXPECT_NEAR(units(static_cast<float>(10.0 * unit)), 2.0 * (1.0 + std::log(5.0)), 0.05);  // the centre is not quite 0
  EXPECT_GT(units(300.0F), units(100.0F));
}

// One huge number brings the others nearer to each other by a factor of four, and no more.
TEST(ColumnUnits, OneHugeNumberDoesNotHideTheOthers) {
  Numbers x = normals(400, 6);
  const ColumnUnits before = units_of(x);
  x[7] = 1e9F;
  const ColumnUnits after = units_of(x);
  EXPECT_FALSE(before.tails);
  EXPECT_TRUE(after.tails);
  EXPECT_NEAR(after(1.0F) - after(0.0F), 0.25 * (before(1.0F) - before(0.0F)), 0.03);
}

TEST(ColumnUnits, AConstantColumnAndOneNumberKeepTheirScale) {
  for (const Numbers& x : {Numbers(30, 5.0F), Numbers{5.0F}}) {
    EXPECT_EQ(units_of(x)(5.5F), 0.5F);
    EXPECT_EQ(units_of(x)(5.0F), 0.0F);
  }
}

// The unit and the zero of a column are nobody's business.
RC_GTEST_PROP(ColumnUnits, DoNotDependOnScaleAndShift, (std::uint32_t seed)) {
  const int kind = *rc::gen::inRange(0, 3);
  const double scale = std::exp(*rc::gen::inRange(-5, 6)), shift = *rc::gen::inRange(-20, 21);
  Numbers x = normals(*rc::gen::inRange<std::size_t>(2, 300), seed);
  if (kind == 1) x = mapped(x, [](double z) { return z * z * z * z * z; });
  for (std::size_t i = 0; kind == 2 && i < x.size(); i += 9) x[i] = -999.0F;
  const Numbers moved = mapped(x, [&](double v) { return scale * (v + shift); });
  const ColumnUnits one = units_of(x), other = units_of(moved);
  RC_ASSERT(one.levels.size() == other.levels.size());
  RC_ASSERT(one.tails == other.tails);
  for (std::size_t i = 0; i < x.size(); ++i) RC_ASSERT(std::abs(one(x[i]) - other(moved[i])) < 2e-3);
}

// Levels are marked in columns of their own, as many as there are, for single contexts and for batches alike.
TEST(Standardiser, RobustUnitsMarkLevels) {
  constexpr std::size_t d = 3, n = 100;
  History history(d, 1);
  const Numbers x = normals(d * n, 5);
  std::vector<Numbers> rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    rows[i] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
    if (i % 8 == 0) rows[i][0] = -999.0F;
    if (i % 8 == 1) rows[i][2] = 1e6F;
    history.add({.context = rows[i], .action = 0, .reward = 1.0F});
  }
  Standardiser standardiser(UnitsKind::robust, d);
  ASSERT_EQ(standardiser.size(), 6U);
  standardiser.refresh(history);
  Minibatch batch;
  history.all(batch);
  standardiser.apply(batch);
  ASSERT_EQ(batch.contexts.rows(), 6U);
  for (std::size_t i = 0; i < n; ++i) {
    const std::span<const float> z = standardiser.context(rows[i]);
    EXPECT_EQ(z[3], i % 8 == 0 ? 1.0F : 0.0F);
    EXPECT_EQ(z[4], i % 8 == 1 ? 1.0F : 0.0F);
    EXPECT_EQ(z[5], 0.0F);
    for (std::size_t j = 0; j < 6; ++j) EXPECT_EQ(batch.contexts(j, i), z[j]);
  }
}

TEST(Standardiser, RobustUnitsAreSavedWithTheirLevels) {
  History history(1, 1);
  for (std::size_t i = 0; i < 60; ++i) {
    const Numbers row = {i % 5 == 0 ? -999.0F : static_cast<float>(i % 7)};
    history.add({.context = row, .action = 0, .reward = 0.0F});
  }
  Standardiser one(UnitsKind::robust, 1), other(UnitsKind::robust, 1);
  one.refresh(history);
  Archive saved;
  one.state(saved);
  Archive read(saved.bytes());
  other.state(read);
  read.finish();
  for (const float v : {-999.0F, 0.0F, 3.0F, 50.0F}) {
    const Numbers row = {v};
    const Numbers z(one.context(row).begin(), one.context(row).end());
    EXPECT_TRUE(std::ranges::equal(other.context(row), z));
  }
}

}  // namespace
}  // namespace pits::test
