// How many requests there were and how long they took, by route: from the request's last byte to its reply.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace pits {

// A histogram whose buckets are a quarter of an octave wide, from 1 µs on: quantiles are at most 19 % too large.
class LatencyHistogram {
 public:
  static constexpr std::size_t buckets = 104;  // up to 67 s
  using Counts = std::array<std::uint64_t, buckets>;

  static std::size_t bucket(std::chrono::nanoseconds time);
  static double upper_bound(std::size_t bucket);  // seconds
  // The upper bound of the bucket that holds the quantile; 0 where there are no counts.
  static double quantile(const Counts& counts, double q);
};

class RequestMetrics {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Totals {
    LatencyHistogram::Counts counts{};
    double seconds = 0.0;
    std::array<std::uint64_t, 6> by_class{};  // of statuses: 2 for 200 to 299; 0: others
  };

  explicit RequestMetrics(std::size_t routes);

  static Time now() { return std::chrono::steady_clock::now(); }
  void add(std::size_t route, int status, std::chrono::nanoseconds time);
  Totals totals(std::size_t route) const;
  std::size_t routes() const { return routes_; }

 private:
  static constexpr std::size_t shards = 8;  // threads count in different ones
  struct alignas(64) Counters {
    std::array<std::atomic<std::uint64_t>, LatencyHistogram::buckets> counts{};
    std::array<std::atomic<std::uint64_t>, 6> by_class{};
    std::atomic<std::uint64_t> nanoseconds{0};
  };

  std::size_t routes_;
  std::unique_ptr<Counters[]> counters_;  // (shards, routes)
};

}  // namespace pits
