// Whether rewards fall where they were predicted. A reward r under the predictive distribution F has the probability
// integral transform F(r); of a calibrated forecaster these are uniform on (0,1) (Dawid 1984).
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace pits {

// Uniform between F(r−) and F(r) where F jumps (Czado, Gneiting and Held 2009); a point where it does not.
struct Pit {
  double low, high;
};

// F is the even mixture of N(mean_i, sd_i²).
Pit mixture_pit(double reward, std::span<const double> mean, std::span<const double> sd);
// F is that of a coin that shows 1 with probability p.
Pit coin_pit(double reward, double p);

// The share of it between `from` and `to`, edges included.
double share_between(const Pit& pit, double from, double to);
// The share of it in the central interval of that probability.
inline double covered(const Pit& pit, double level) { return share_between(pit, 0.5 - 0.5 * level, 0.5 + 0.5 * level); }

class PitHistogram {
 public:
  static constexpr std::size_t bins = 20;  // the central 50 and 90 % are whole bins

  void add(const Pit& pit);
  std::array<double, bins> shares() const;  // of every bin; all 0 where nothing was added

 private:
  std::array<double, bins> counts_{};
  double n_ = 0.0;
};

// Coverage of the central interval of that probability, by a histogram's shares.
double coverage(std::span<const double> shares, double level);

}  // namespace pits
