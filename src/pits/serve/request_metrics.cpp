#include "pits/serve/request_metrics.h"

#include <bit>
#include <cmath>

#include "pits/log/left_right.h"

namespace pits {

// Below 1 µs: 0. Then four buckets per doubling, by the two bits after the leading one.
std::size_t LatencyHistogram::bucket(std::chrono::nanoseconds time) {
  const auto n = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
  const auto lowest = std::uint64_t{1024};
  if (n < lowest) return 0;
  const auto octave = static_cast<std::size_t>(std::bit_width(n) - std::bit_width(lowest));
  const std::size_t quarter = (n >> (octave + 8)) & 3U;
  return std::min(1 + 4 * octave + quarter, buckets - 1);
}

double LatencyHistogram::upper_bound(std::size_t bucket) {
  constexpr double lowest = 1024e-9;
  if (bucket == 0) return lowest;
  const std::size_t octave = (bucket - 1) / 4, quarter = (bucket - 1) % 4;
  return lowest * std::ldexp(1.0 + static_cast<double>(quarter + 1) / 4.0, static_cast<int>(octave));
}

double LatencyHistogram::quantile(const Counts& counts, double q) {
  std::uint64_t all = 0, below = 0;
  for (const std::uint64_t count : counts) all += count;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(all)));
  for (std::size_t i = 0; all > 0 && i < buckets; ++i) {
    below += counts[i];
    if (below >= wanted) return upper_bound(i);
  }
  return 0.0;
}

RequestMetrics::RequestMetrics(std::size_t routes)
    : routes_(routes), counters_(std::make_unique<Counters[]>(shards * routes)) {}

void RequestMetrics::add(std::size_t route, int status, std::chrono::nanoseconds time) {
  Counters& to = counters_[thread_number() % shards * routes_ + route];
  constexpr auto relaxed = std::memory_order_relaxed;
  to.counts[LatencyHistogram::bucket(time)].fetch_add(1, relaxed);
  to.nanoseconds.fetch_add(static_cast<std::uint64_t>(time.count()), relaxed);
  const int status_class = status / 100;
  to.by_class[status_class >= 1 && status_class <= 5 ? static_cast<std::size_t>(status_class) : 0].fetch_add(1,
                                                                                                             relaxed);
}

RequestMetrics::Totals RequestMetrics::totals(std::size_t route) const {
  Totals all;
  for (std::size_t shard = 0; shard < shards; ++shard) {
    const Counters& from = counters_[shard * routes_ + route];
    for (std::size_t i = 0; i < all.counts.size(); ++i) all.counts[i] += from.counts[i];
    for (std::size_t i = 0; i < all.by_class.size(); ++i) all.by_class[i] += from.by_class[i];
    all.seconds += 1e-9 * static_cast<double>(from.nanoseconds);
  }
  return all;
}

}  // namespace pits
