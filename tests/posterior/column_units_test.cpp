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

// A flag, drawn with this share of ones, where every fifth number is −999.
Numbers flag_with_missing(double share, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  Numbers x(500);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 5 == 0 ? -999.0F : stream.uniform() < share ? 1.0F : 0.0F;
  return x;
}

Numbers without(Numbers x, const std::vector<float>& values) {
  std::erase_if(x, [&](float v) { return std::ranges::find(values, v) != values.end(); });
  return x;
}

// Missing values do not hide a flag, however rare its ones are.
TEST(ColumnUnits, AFlagWithMissingValuesIsStandardisedAsWithoutThem) {
  for (const double share : {0.01, 0.03, 0.12, 0.25, 0.5, 0.97}) {
    const Numbers x = flag_with_missing(share, 8), rest = without(x, {-999.0F});
    const ColumnUnits units = units_of(x);
    ASSERT_EQ(units.levels.size(), 1U) << share;
    EXPECT_NE(units.level(-999.0F), nullptr);
    for (const float v : {0.0F, 1.0F}) EXPECT_NEAR(units(v), std::clamp(plain(rest, v), -10.0, 10.0), 1e-4) << share;
  }
}

// Too few to be a level: no more than a factor of four narrower.
TEST(ColumnUnits, AFewMissingValuesDoNotHideAFlag) {
  Numbers x = mapped(normals(500, 9), [](double z) { return z > 1.2 ? 1.0 : 0.0; });
  const double before = units_of(x)(1.0F) - units_of(x)(0.0F);
  for (std::size_t i = 0; i < 5; ++i) x[100 * i] = -999.0F;
  const ColumnUnits units = units_of(x);
  EXPECT_TRUE(units.levels.empty() && units.tails);
  EXPECT_NEAR(units(1.0F) - units(0.0F), 0.25, 1e-5);  // a width is the distance of 0 and 1
  EXPECT_GT(before, 1.0);
}

// The outer one first, then the other: at the same end or at both.
TEST(ColumnUnits, TwoCodesAtOneEndAreTwoLevels) {
  for (const double sign : {1.0, -1.0}) {
    Numbers x = normals(400, 10);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i % 20 == 0) x[i] = static_cast<float>(-9999.0 * sign);
      if (i % 5 == 1) x[i] = static_cast<float>(-999.0 * sign);
    }
    const std::vector<float> codes = {static_cast<float>(-9999.0 * sign), static_cast<float>(-999.0 * sign)};
    const Numbers rest = without(x, codes);
    const ColumnUnits units = units_of(x);
    ASSERT_EQ(units.levels.size(), 2U);
    for (const float code : codes) EXPECT_NE(units.level(code), nullptr);
    for (const float v : rest) EXPECT_NEAR(units(v), plain(rest, v), 1e-4);
  }
}

// Revenue: mostly 0, a tail, and one number of a million. And counts with a code for "unknown".
TEST(ColumnUnits, ColumnsThatAreMostlyZeroKeepTheirOtherNumbersApart) {
  Numbers revenue = mapped(normals(1000, 11), [](double z) { return std::exp(z); });
  for (std::size_t i = 0; i < revenue.size(); ++i) revenue[i] = i % 10 == 0 ? revenue[i] : 0.0F;
  EXPECT_FALSE(units_of(revenue).tails);
  revenue[30] = 1e6F;
  const ColumnUnits units = units_of(revenue);
  EXPECT_TRUE(units.tails);
  EXPECT_GT(units(1.0F) - units(0.0F), 0.15);  // a width is the median of the others, which is about 1
  EXPECT_GT(units(3.0F), units(1.0F));

  Numbers counts = mapped(normals(1000, 12), [](double z) { return z > 1.0 ? std::floor(3.0 * z) : 0.0; });
  for (std::size_t i = 0; i < counts.size(); i += 8) counts[i] = 99999.0F;
  const Numbers known = without(counts, {99999.0F});
  ASSERT_EQ(units_of(counts).levels.size(), 1U);
  for (const float v : known) EXPECT_NEAR(units_of(counts)(v), std::clamp(plain(known, v), -10.0, 10.0), 1e-4);
}

// Flags, one-hot columns and few values near each other stay as plain standardisation has them.
TEST(ColumnUnits, FlagsHaveNoLevels) {
  for (const double share : {0.01, 0.02, 0.05, 0.3, 0.8, 0.98}) {
    Stream stream({.seed = 13, .purpose = Purpose::target_sample});
    Numbers x(1000);
    for (float& v : x) v = stream.uniform() < share ? 1.0F : 0.0F;
    const ColumnUnits units = units_of(x);
    EXPECT_TRUE(units.levels.empty() && !units.tails) << share;
    for (const float v : {0.0F, 1.0F}) EXPECT_NEAR(units(v), std::clamp(plain(x, v), -10.0, 10.0), 1e-5);
  }
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
  const int kind = *rc::gen::inRange(0, 4);
  const double scale = std::exp(*rc::gen::inRange(-5, 6)), shift = *rc::gen::inRange(-20, 21);
  Numbers x = normals(*rc::gen::inRange<std::size_t>(2, 300), seed);
  if (kind == 1) x = mapped(x, [](double z) { return z * z * z * z * z; });
  if (kind == 3) x = mapped(x, [](double z) { return z > 1.0 ? std::floor(2.0 * z) : 0.0; });
  for (std::size_t i = 0; kind >= 2 && i < x.size(); i += 9) x[i] = -999.0F;
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
