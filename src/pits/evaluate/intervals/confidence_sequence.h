// The confidence sequence of Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro (2022), "Anytime-valid off-policy
// inference for contextual bandits", with the gamma-exponential mixture of Howard et al. (2021).
//
// X_1, X_2, ... ≥ 0 have means (given the past) whose average after t rounds is μ ≤ 1. With predictions
//   X̂_t = min(1, (½ + Σ_{i<t} X_i) / t),   v = Σ (X_i − X̂_i)²,   s = Σ X_i − t μ
// the wealth exp(log_wealth(s, v, ρ)) is a supermartingale: by Ville's inequality it passes 1/α in some round with
// probability at most α. The lower bound is the μ at which it is 1/α. (X̂ ≤ 1 is what the proof needs: X − X̂ ≥ −1.)
#pragma once

#include <span>

#include "pits/evaluate/intervals/interval.h"

namespace pits {

// ln γ(a, x), γ(a, x) = ∫_0^x u^(a−1) e^(−u) du: the logarithm of the lower incomplete gamma function, a, x > 0.
double log_lower_gamma(double a, double x);

// s + v + ρ ln ρ − (v + ρ) ln(s + v + ρ) + ln γ(v + ρ, s + v + ρ) − ln γ(ρ, ρ)
double log_wealth(double s, double v, double rho);

// Sums of X_1, X_2, ..., and a lower bound of their mean that holds after every round at once.
class LowerSequence {
 public:
  void add(double x);
  // With probability 1 − alpha for all t together; 0 where nothing better is known.
  double bound(double alpha) const;

 private:
  double t_ = 0.0, sum_ = 0.0, v_ = 0.0;
};

// Both bounds of a policy's value, for rewards in a known range; each side has α/2. X = w (r − low) / (high − low)
// gives the lower bound, w (high − r) / (high − low) the upper one. Needs w ≥ 0 and E[w | past] = 1; where a part of
// the policy has no support E[w] is less, and both bounds still hold.
class ValueSequence {
 public:
  explicit ValueSequence(RewardRange range) : range_(range) {}
  void add(double weight, double reward);
  Interval interval(double level) const;

 private:
  RewardRange range_;
  LowerSequence low_, high_;
};

// Both bounds of V_A − V_B from the same rounds: with r scaled to 0..1, X = (w_A r + w_B (1 − r)) / 2 has the mean
// (1 + V_A − V_B) / 2, and with A and B exchanged (1 − V_A + V_B) / 2. The same conditions.
class DifferenceSequence {
 public:
  explicit DifferenceSequence(RewardRange range) : range_(range) {}
  void add(double weight_a, double weight_b, double reward);
  Interval interval(double level) const;

 private:
  RewardRange range_;
  LowerSequence low_, high_;
};

}  // namespace pits
