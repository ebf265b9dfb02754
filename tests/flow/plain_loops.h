// The velocities of docs/method.md, section 2, as plain loops in double: the reference of the batched versions. Nothing
// here uses the code under test.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace pits::test {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

struct PlainCloud {
  Rows theta;     // θ (M,P)
  Rows score;     // G (M,P)
  Rows previous;  // θ′ (M,P)
};

inline double squared_distance(const Row& a, const Row& b) {
  double sum = 0.0;
  for (std::size_t l = 0; l < a.size(); ++l) sum += (a[l] - b[l]) * (a[l] - b[l]);
  return sum;
}

inline Rows zeros(std::size_t rows, std::size_t cols) { return Rows(rows, Row(cols, 0.0)); }

// c_ij = ‖a_i − b_j‖²
inline Rows costs(const Rows& a, const Rows& b) {
  Rows c = zeros(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) c[i][j] = squared_distance(a[i], b[j]);
  }
  return c;
}

// The median by sorting; all entries, the diagonal included.
inline double plain_median(const Rows& c) {
  Row all;
  for (const Row& row : c) all.insert(all.end(), row.begin(), row.end());
  std::sort(all.begin(), all.end());
  const std::size_t n = all.size();
  return 0.5 * (all[(n - 1) / 2] + all[n / 2]);
}

inline Rows rbf(const Rows& theta, double h) {
  Rows k = costs(theta, theta);
  for (Row& row : k) {
    for (double& x : row) x = std::exp(-x / h);
  }
  return k;
}

inline double sum(const Row& row) {
  double s = 0.0;
  for (const double x : row) s += x;
  return s;
}

// v_il += weight · (a_l − b_l)
inline void pull(Row& v, double weight, const Row& a, const Row& b) {
  for (std::size_t l = 0; l < v.size(); ++l) v[l] += weight * (a[l] - b[l]);
}

// (1/M) Σ_j [ k_ij G_j + λ₁ (2/h) k_ij (θ_i − θ_j) ]; G_i instead of G_j with own scores.
inline Rows plain_svgd(const PlainCloud& c, double h, bool own = false, double entropy = 1.0) {
  const std::size_t M = c.theta.size();
  const Rows k = rbf(c.theta, h);
  Rows v = zeros(M, c.theta[0].size());
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      const Row& g = c.score[own ? i : j];
      for (std::size_t l = 0; l < g.size(); ++l) v[i][l] += k[i][j] * g[l] / static_cast<double>(M);
      pull(v[i], entropy * 2.0 / h * k[i][j] / static_cast<double>(M), c.theta[i], c.theta[j]);
    }
  }
  return v;
}

// G_i + λ₁ (2/h) Σ_j k_ij (θ_i − θ_j) [ 1/S_i + 1/S_j ]; GFSD has 1/S_i only.
inline Rows plain_density_flow(const PlainCloud& c, double h, bool blob, double entropy = 1.0) {
  const std::size_t M = c.theta.size();
  const Rows k = rbf(c.theta, h);
  Rows v = c.score;
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      const double inverse = 1.0 / sum(k[i]) + (blob ? 1.0 / sum(k[j]) : 0.0);
      pull(v[i], entropy * 2.0 / h * k[i][j] * inverse, c.theta[i], c.theta[j]);
    }
  }
  return v;
}

// x with a·x = b, by Gauss-Jordan with row pivots; b and x are (M,P).
inline Rows solve(Rows a, Rows b) {
  const std::size_t M = a.size();
  for (std::size_t c = 0; c < M; ++c) {
    std::size_t pivot = c;
    for (std::size_t i = c; i < M; ++i) pivot = std::abs(a[i][c]) > std::abs(a[pivot][c]) ? i : pivot;
    std::swap(a[c], a[pivot]);
    std::swap(b[c], b[pivot]);
    for (std::size_t i = 0; i < M; ++i) {
      if (i == c) continue;
      const double factor = a[i][c] / a[c][c];
      for (std::size_t l = 0; l < M; ++l) a[i][l] -= factor * a[c][l];
      for (std::size_t l = 0; l < b[i].size(); ++l) b[i][l] -= factor * b[c][l];
    }
  }
  for (std::size_t i = 0; i < M; ++i) {
    for (double& x : b[i]) x /= a[i][i];
  }
  return b;
}

// G_i + λ₁ Σ_j [(K + εI)⁻¹]_ij Σ_l (2/h) k_jl (θ_j − θ_l), ε = ridge · max K (which is k_ii = 1)
inline Rows plain_gfsf(const PlainCloud& c, double h, double ridge, double entropy = 1.0) {
  const std::size_t M = c.theta.size();
  Rows k = rbf(c.theta, h);
  Rows gradient = zeros(M, c.theta[0].size());
  for (std::size_t j = 0; j < M; ++j) {
    for (std::size_t l = 0; l < M; ++l) pull(gradient[j], entropy * 2.0 / h * k[j][l], c.theta[j], c.theta[l]);
  }
  for (std::size_t i = 0; i < M; ++i) k[i][i] += ridge;
  Rows v = solve(k, gradient);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t l = 0; l < v[i].size(); ++l) v[i][l] += c.score[i][l];
  }
  return v;
}

// v_i −= (γ/M) Σ_j (c_ij/λ − 1) e^{−c_ij/λ} (θ_i − θ′_j)
inline void add_plain_transport(const PlainCloud& c, double lambda, double gamma, Rows& v) {
  const std::size_t M = c.theta.size();
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      const double ratio = squared_distance(c.theta[i], c.previous[j]) / lambda;
      pull(v[i], -gamma / static_cast<double>(M) * (ratio - 1.0) * std::exp(-ratio), c.theta[i], c.previous[j]);
    }
  }
}

// (1/2M) Σ_j e^{−c_ij/2s²} (1 − c_ij/s²) (θ_i − θ′_j) with s² = median(c)/(2 log(M+1)): docs/method.md, section 3.
inline void add_plain_released_transport(const PlainCloud& c, Rows& v) {
  const auto M = static_cast<double>(c.theta.size());
  const Rows cost = costs(c.theta, c.previous);
  const double s2 = plain_median(cost) / (2.0 * std::log(M + 1.0));
  for (std::size_t i = 0; i < cost.size(); ++i) {
    for (std::size_t j = 0; j < cost.size(); ++j) {
      const double w = std::exp(-cost[i][j] / (2.0 * s2)) * (1.0 - cost[i][j] / s2);
      pull(v[i], 0.5 * w / M, c.theta[i], c.previous[j]);
    }
  }
}

// Plain scalings need e^{c/λ} sweeps for particles that stand apart: beyond this they are no reference.
inline bool plain_plan_converges(const Rows& cost, double lambda) {
  double largest = 0.0;
  for (const Row& row : cost) largest = std::max(largest, *std::max_element(row.begin(), row.end()));
  return largest < 10.0 * lambda;
}

// Sinkhorn as Cuturi 2013 prints it: scale rows and columns of e^{−c/λ} in turn, without logarithms.
inline Rows plain_plan(const Rows& cost, double lambda, int sweeps = 200000) {
  const std::size_t M = cost.size();
  const double mass = 1.0 / static_cast<double>(M);
  Row u(M, 1.0);
  Row v(M, 1.0);
  Rows plan = cost;
  for (Row& row : plan) {
    for (double& x : row) x = std::exp(-x / lambda);
  }
  const Rows k = plan;
  for (int s = 0; s < sweeps; ++s) {
    const Row before = u;
    for (std::size_t i = 0; i < M; ++i) {
      double row = 0.0;
      for (std::size_t j = 0; j < M; ++j) row += k[i][j] * v[j];
      u[i] = mass / row;
    }
    for (std::size_t j = 0; j < M; ++j) {
      double column = 0.0;
      for (std::size_t i = 0; i < M; ++i) column += k[i][j] * u[i];
      v[j] = mass / column;
    }
    double change = 0.0;
    for (std::size_t i = 0; i < M; ++i) change = std::max(change, std::abs(u[i] / before[i] - 1.0));
    if (change < 1e-14) break;
  }
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) plan[i][j] = u[i] * k[i][j] * v[j];
  }
  return plan;
}

// v_i −= (1/τ) M Σ_j π_ij (θ_i − θ′_j), and plus the same for the plan of θ to itself where debiased.
inline void add_plain_sinkhorn(const PlainCloud& c, double lambda, double tau, bool debiased, Rows& v) {
  const auto M = static_cast<double>(c.theta.size());
  const auto add = [&](const Rows& other, double sign) {
    const Rows plan = plain_plan(costs(c.theta, other), lambda);
    for (std::size_t i = 0; i < v.size(); ++i) {
      for (std::size_t j = 0; j < v.size(); ++j) pull(v[i], sign * M / tau * plan[i][j], c.theta[i], other[j]);
    }
  };
  add(c.previous, -1.0);
  if (debiased) add(c.theta, 1.0);
}

}  // namespace pits::test
