#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "pits/serve/metrics_text.h"

namespace pits {
namespace {

RC_GTEST_PROP(LatencyHistogram, ATimeIsBelowItsBucketsBoundAndNotBelowTheOneBefore, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(0, 60'000'000'000);
  const std::size_t bucket = LatencyHistogram::bucket(std::chrono::nanoseconds(n));
  const double seconds = 1e-9 * static_cast<double>(n);
  RC_ASSERT(seconds < LatencyHistogram::upper_bound(bucket));
  RC_ASSERT(bucket == 0 || seconds >= LatencyHistogram::upper_bound(bucket - 1) * (1.0 - 1e-12));
}

TEST(LatencyHistogram, BucketsAreAQuarterOfAnOctave) {
  for (std::size_t i = 1; i < LatencyHistogram::buckets; ++i) {
    const double ratio = LatencyHistogram::upper_bound(i) / LatencyHistogram::upper_bound(i - 1);
    EXPECT_GT(ratio, 1.14);
    EXPECT_LE(ratio, 1.25 + 1e-12);
  }
}

TEST(LatencyHistogram, QuantilesAreThoseOfTheSortedTimes) {
  LatencyHistogram::Counts counts{};
  std::vector<std::int64_t> times;
  for (std::int64_t i = 1; i <= 1000; ++i) {
    times.push_back(i * i * 50);
    ++counts[LatencyHistogram::bucket(std::chrono::nanoseconds(times.back()))];
  }
  for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double exact = 1e-9 * static_cast<double>(times[static_cast<std::size_t>(std::ceil(q * 1000)) - 1]);
    const double found = LatencyHistogram::quantile(counts, q);
    EXPECT_GE(found, exact);
    EXPECT_LE(found, std::max(exact * 1.26, 1.1e-6));
  }
  EXPECT_EQ(LatencyHistogram::quantile({}, 0.5), 0.0);
}

TEST(RequestMetrics, CountsByRouteAndStatus) {
  RequestMetrics metrics(3);
  metrics.add(1, 200, std::chrono::microseconds(10));
  metrics.add(1, 429, std::chrono::microseconds(10));
  metrics.add(2, 503, std::chrono::milliseconds(1));
  EXPECT_EQ(metrics.totals(0).by_class[2], 0U);
  EXPECT_EQ(metrics.totals(1).by_class[2], 1U);
  EXPECT_EQ(metrics.totals(1).by_class[4], 1U);
  EXPECT_EQ(metrics.totals(2).by_class[5], 1U);
  EXPECT_NEAR(metrics.totals(1).seconds, 20e-6, 1e-12);
}

TEST(MetricsText, IsTheFormatOfPrometheus) {
  MetricsText text;
  text.head("a_total", "counter", "All a");
  text.sample("a_total", {{"bandit", "x\"y\\z\n"}, {"k", "v"}}, 3.0);
  text.add("b", "gauge", "One b", 0.5);
  EXPECT_EQ(text.finish(),
            "# HELP a_total All a\n# TYPE a_total counter\na_total{bandit=\"x\\\"y\\\\z\\n\",k=\"v\"} 3\n"
            "# HELP b One b\n# TYPE b gauge\nb 0.5\n");
}

TEST(MetricsText, AHistogramIsCumulative) {
  LatencyHistogram::Counts counts{};
  counts[1] = 2, counts[7] = 3;
  MetricsText text;
  text.histogram("t", {}, counts, 1.5);
  const std::string all = text.finish();
  EXPECT_NE(all.find("t_bucket{le=\"+Inf\"} 5\nt_sum 1.5\nt_count 5\n"), std::string::npos) << all;
  EXPECT_NE(all.find("t_bucket{le=\"1.024e-06\"} 0\n"), std::string::npos) << all;
  EXPECT_NE(all.find("t_bucket{le=\"2.048e-06\"} 2\n"), std::string::npos) << all;
}

}  // namespace
}  // namespace pits
