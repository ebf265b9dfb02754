#include "pits/agent/best_probabilities.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "pits/core/simd/densities.h"

namespace pits {
namespace {

constexpr double least_freedom = 0.25;
constexpr double ignored = 1e-9;  // probability of a tail

// Gauss-Legendre on −1..1.
constexpr std::size_t nodes = piece_nodes;
struct Rule : PieceRule {
  PieceRow weight{0.1012285362903763, 0.2223810344533745, 0.3137066458778873, 0.3626837833783620,
                  0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};

  Rule()
      : PieceRule{.x = {-0.9602898564975363, -0.7966664774136267, -0.5255324099163290, -0.1834346424956498,
                        0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363},
                  .above = {}} {
    for (std::size_t i = 0; i < nodes; ++i) {
      const double half = 0.5 * (1.0 - x[i]);
      for (std::size_t j = 0; j < nodes; ++j) {
        for (std::size_t k = 0; k < nodes; ++k) {
          above[j][i] += half * weight[k] * lagrange(j, x[i] + half * (1.0 + x[k]));
        }
      }
    }
  }
  double lagrange(std::size_t j, double t) const {
    double product = 1.0;
    for (std::size_t m = 0; m < nodes; ++m) product *= m == j ? 1.0 : (t - x[m]) / (x[j] - x[m]);
    return product;
  }
};

// std::lgamma writes the sign to a global variable, from whatever thread.
double log_gamma(double a) {
  int sign = 0;
  return lgamma_r(a, &sign);
}

// A law with what its density needs.
struct Density : PieceLaw {
  Action action = 0;
  double edge = 0.0;  // |T| is above it with a probability of at most `ignored` on each side

  Density(Action a, const ValueLaw& law)
      : PieceLaw{.mean = law.mean, .scale = law.scale, .freedom = law.freedom}, action(a) {
    if (freedom == 0.0) {
      edge = 6.2;
      factor = 1.0 / (scale * std::sqrt(2.0 * std::numbers::pi));
      return;
    }
    const double n = freedom;
    const double log_peak = log_gamma(0.5 * (n + 1.0)) - log_gamma(0.5 * n) - 0.5 * std::log(n * std::numbers::pi);
    factor = std::exp(log_peak) / scale;
    // The tail above t is at most peak · n^((n−1)/2) · t⁻ⁿ.
    edge = n > 100.0 ? 8.0 : std::exp((log_peak + 0.5 * (n - 1.0) * std::log(n) - std::log(ignored)) / n);
  }
  double low() const { return mean - edge * scale; }
  double high() const { return mean + edge * scale; }
  // The end of a piece that starts at v, in which a polynomial follows the density, whose poles are at ±i√freedom.
  double next(double v) const {
    if (v < low()) return low();
    if (v >= high()) return std::numeric_limits<double>::infinity();
    const double t = std::abs(v - mean) / scale;
    const double width = freedom == 0.0 ? 1.5 : std::min(1.5, std::sqrt(freedom));
    return v + scale * std::max(width, 0.5 * t);
  }
};

struct Problem {
  std::vector<Density> laws;  // of those that can be the largest
  double low = -std::numeric_limits<double>::infinity(), high = low;
  bool constant = false;  // an action whose value is always `low`
  Action best_constant = 0;
};

// A scale that disappears beside its mean counts as 0.
bool is_constant(const ValueLaw& law) { return law.scale <= 1e-12 * std::abs(law.mean); }

// The largest value is above every law's lower edge: those below it cannot be the largest.
bool find_problem(std::span<const ValueLaw> laws, const ActionSet& actions, Problem& p) {
  p.laws.clear();
  p.low = p.high = -std::numeric_limits<double>::infinity();
  p.constant = false;
  for (Action a = 0; a < laws.size(); ++a) {
    const ValueLaw& law = laws[a];
    if (!actions.admits(a)) continue;
    const bool usable = law.freedom == 0.0 || law.freedom >= least_freedom;
    if (!usable || !std::isfinite(law.mean) || !std::isfinite(law.scale)) return false;
    if (!is_constant(law)) {
      p.laws.emplace_back(a, law);
      if (!std::isfinite(p.laws.back().high() - p.laws.back().low())) return false;
    } else if (!p.constant || law.mean > laws[p.best_constant].mean) {
      p.constant = true;
      p.best_constant = a;
    }
  }
  if (p.constant) p.low = laws[p.best_constant].mean;
  for (const Density& law : p.laws) {
    if (law.low() <= p.low) continue;
    p.low = law.low();
    p.constant = false;  // it is always below
  }
  std::erase_if(p.laws, [&](const Density& law) { return law.high() <= p.low; });
  for (const Density& law : p.laws) p.high = std::max(p.high, law.high());
  return true;
}

void find_edges(const Problem& p, std::vector<double>& edges) {
  edges.assign(1, p.low);
  while (edges.back() < p.high) {
    double end = p.high;
    for (const Density& law : p.laws) end = std::min(end, law.next(edges.back()));
    // Where a law is narrower than the numbers are apart.
    edges.push_back(std::max(end, std::nextafter(edges.back(), std::numeric_limits<double>::infinity())));
  }
}

// Adds the part of the integrals between two edges; the tails must be those above it.
void integrate(Problem& p, double from, double to, std::vector<PieceRow>& f, std::vector<PieceRow>& F,
               std::span<double> out) {
  static const Rule rule;
  const double half = 0.5 * (to - from), centre = 0.5 * (to + from);
  const std::size_t n = p.laws.size();
  f.resize(n);
  F.resize(n);
  for (std::size_t l = 0; l < n; ++l) {
    Density& law = p.laws[l];
    if (to <= law.low() || from >= law.high()) {
      f[l].fill(0.0);
      F[l].fill(1.0 - law.tail);
      continue;
    }
    find_densities(law, centre, half, rule, f[l], F[l]);
    for (std::size_t j = 0; j < nodes; ++j) law.tail += rule.weight[j] * f[l][j];
  }
  // Products of all but one: those before it, then those after it.
  PieceRow product = rule.weight;
  for (std::size_t l = 0; l < n; ++l) {
    for (std::size_t j = 0; j < nodes; ++j) {
      f[l][j] *= product[j];
      product[j] *= F[l][j];
    }
  }
  product.fill(1.0);
  for (std::size_t l = n; l-- > 0;) {
    double sum = 0.0;
    for (std::size_t j = 0; j < nodes; ++j) {
      sum += f[l][j] * product[j];
      product[j] *= F[l][j];
    }
    out[p.laws[l].action] += sum;
  }
}

}  // namespace

bool best_probabilities(std::span<const ValueLaw> laws, const ActionSet& actions, std::span<double> out) {
  thread_local Problem p;
  thread_local std::vector<double> edges;
  thread_local std::vector<PieceRow> f, F;
  std::ranges::fill(out, 0.0);
  if (!find_problem(laws, actions, p)) return false;
  find_edges(p, edges);
  for (std::size_t i = edges.size() - 1; i > 0; --i) integrate(p, edges[i - 1], edges[i], f, F, out);
  if (p.constant) {
    double below = 1.0;
    for (const Density& law : p.laws) below *= std::max(0.0, 1.0 - law.tail);
    out[p.best_constant] = below;
  }
  double sum = 0.0;
  for (const double q : out) sum += q;
  if (!(sum > 0.0)) return false;
  for (double& q : out) q /= sum;
  return true;
}

}  // namespace pits
