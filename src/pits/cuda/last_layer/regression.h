// Bayesian linear regression by W = L⁻¹, where L Lᵀ is the precision: with W, and not L, a rank-one update and what
// follows from it are products and prefix sums, which threads share without waiting for each other row by row.
//
// Lower triangles (F,F) lie packed, row after row. All functions are for a team of threads, which has a common view of
// the memory before and after.
#pragma once

#include <cmath>

#include "pits/cuda/last_layer/team.h"

namespace pits::cuda {

PITS_HOST_DEVICE constexpr int packed(int row, int column) { return row * (row + 1) / 2 + column; }
PITS_HOST_DEVICE constexpr int packed_size(int F) { return packed(F, 0); }

constexpr int panel = 4;  // columns that are eliminated together: a row is read and written once for all

// The pivot rows (panel,F) of the columns from `first` on.
struct Panel {
  double* pivots;
  int F, first;

  PITS_HOST_DEVICE double& at(int k, int c) const { return pivots[k * F + c]; }
  // What the first `count` of them have of a column.
  PITS_HOST_DEVICE void take(int column, int count, double (&out)[panel]) const {
    for (int k = 0; k < panel; ++k) out[k] = k < count ? at(k, column) : 0.0;
  }
  // An entry of A after the first `count`, in column c of a row where they have `factor`. A column leaves A with its
  // own pivot, and W's takes its place.
  PITS_HOST_DEVICE double reduced(double entry, const double (&factor)[panel], int c, int count) const {
    const bool left = c >= first && c < first + count;
    double value = left ? 0.0 : entry;
    for (int k = 0; k < panel; ++k) {
      if (k < count && (!left || k >= c - first)) value -= factor[k] * at(k, c);
    }
    return value;
  }
};

// A becomes W = L⁻¹, A = L Lᵀ, by elimination on the rows of A and of I together: row j of W takes the place of row j
// of A as column j leaves it. `scratch` has (panel,F) numbers. Whether solving with L leaves any digits, as usable() of
// posterior/bayes_linear.cpp has it.
template <class Team>
PITS_HOST_DEVICE bool invert_factor(const Team& team, int F, double* A, double* scratch) {
  double least = 1e300, most = 0.0, factor[panel];
  for (int first = 0; first < F; first += panel) {
    const Panel p{scratch, F, first};
    const int count = F - first < panel ? F - first : panel;
    for (int k = 0; k < count; ++k) {
      const int j = first + k;
      p.take(j, k, factor);
      const double square = p.reduced(A[packed(j, j)], factor, j, k);
      if (!(square > 0.0)) return false;
      const double diagonal = sqrt(square), inverse = 1.0 / diagonal;
      least = fmin(least, diagonal);
      most = fmax(most, diagonal);
      for (int c = team.thread; c < F; c += team.threads) {
        const double entry = A[c < j ? packed(j, c) : packed(c, j)];
        p.at(k, c) = c == j ? inverse : inverse * p.reduced(entry, factor, c, k);
      }
      team.sync();
    }
    for (int i = first + team.warp; i < F; i += team.warps) {
      double* row = A + packed(i, 0);
      const bool pivot = i < first + count;
      if (!pivot) p.take(i, count, factor);
      for (int c = team.lane; c <= i; c += team.lanes) {
        row[c] = pivot ? p.at(i - first, c) : p.reduced(row[c], factor, c, count);
      }
    }
    team.sync();
  }
  const double ratio = least / most;
  return ratio * ratio > 0x1p-52;
}

// Σ_f a_f b_f: each warp by itself, all get it.
template <class Team>
PITS_HOST_DEVICE double dot(const Team& team, int n, const double* a, const double* b) {
  double sum = 0.0;
  for (int f = team.lane; f < n; f += team.lanes) sum += a[f] * b[f];
  return team.lane_sum(sum);
}

// out = W x. A warp takes several rows at once, whose loads do not wait for each other.
template <class Team>
PITS_HOST_DEVICE void times(const Team& team, int F, const double* W, const double* x, double* out) {
  constexpr int rows = 4;
  for (int first = team.warp; first < F; first += rows * team.warps) {
    double sum[rows] = {};
    const int last = first + (rows - 1) * team.warps;
    for (int c = team.lane; c <= (last < F ? last : F - 1); c += team.lanes) {
      for (int k = 0; k < rows; ++k) {
        const int i = first + k * team.warps;
        if (i < F && c <= i) sum[k] += W[packed(i, c)] * x[c];
      }
    }
    for (int k = 0; k < rows; ++k) {
      const double total = team.lane_sum(sum[k]);
      if (team.lane == 0 && first + k * team.warps < F) out[first + k * team.warps] = total;
    }
  }
  team.sync();
}

// out = Wᵀ t.
template <class Team>
PITS_HOST_DEVICE void transposed_times(const Team& team, int F, const double* W, const double* t, double* out) {
  for (int c = team.thread; c < F; c += team.threads) {
    double sum = 0.0;
    for (int i = c; i < F; ++i) sum += W[packed(i, c)] * t[i];
    out[c] = sum;
  }
  team.sync();
}

// out_k = Wᵀ z_k of `count` draws that lie `step` apart, as do the results; W is read once for several.
template <class Team>
PITS_HOST_DEVICE void deviate(const Team& team, int F, const double* W, const double* draws, double* out, int count,
                              std::int64_t step) {
  constexpr int together = 8;
  for (int first = 0; first < count; first += together) {
    const int n = count - first < together ? count - first : together;
    const double* z = draws + first * step;
    for (int c = team.thread; c < F; c += team.threads) {
      double sum[together] = {};
      for (int i = c; i < F; ++i) {
        const double w = W[packed(i, c)];
        for (int k = 0; k < together; ++k) sum[k] += k < n ? w * z[k * step + i] : 0.0;
      }
      for (int k = 0; k < n; ++k) out[(first + k) * step + c] = sum[k];
    }
  }
  team.sync();
}

// xᵀ A x of a symmetric A; `parts` (F) is scratch.
template <class Team>
PITS_HOST_DEVICE double quadratic(const Team& team, int F, const double* A, const double* x, double* parts) {
  for (int i = team.warp; i < F; i += team.warps) {
    const double* row = A + packed(i, 0);
    const double left = dot(team, i, row, x);
    if (team.lane == 0) parts[i] = 2.0 * left + row[i] * x[i];
  }
  team.sync();
  return dot(team, F, parts, x);
}

// What a regression has seen, and how badly it fits.
struct RegressionTotals {
  double n;       // observations
  double yy;      // Σ r², of the sums alone
  double misfit;  // ½(Σ r² − meanᵀ precision mean)
};

// One regression. While it is fitted, `inverse` holds the sums Σ φφᵀ.
struct Regression {
  double* inverse;    // (F(F+1)/2) W
  double* moment;     // (F) Σ φ r, of the sums alone
  double* mean;       // (F)
  double* draw;       // (F) z
  double* deviation;  // (F) Wᵀ z
  RegressionTotals* totals;
};

// The posterior of the sums with `prior` (F) on the diagonal. `place` holds the sums and becomes W, `work` (panel,F) is
// scratch.
template <class Team>
PITS_HOST_DEVICE bool fit(const Team& team, int F, const Regression& r, const double* prior, double* place,
                          double* work) {
  for (int f = team.thread; f < F; f += team.threads) place[packed(f, f)] += prior[f];
  team.sync();
  const bool usable = invert_factor(team, F, place, work);
  times(team, F, place, r.moment, work);
  transposed_times(team, F, place, work, r.mean);
  transposed_times(team, F, place, r.draw, r.deviation);
  const double explained = dot(team, F, r.mean, r.moment);
  if (team.thread == 0) r.totals->misfit = fmax(0.0, 0.5 * (r.totals->yy - explained));
  return usable;
}

// One more observation φ, r, exactly: with p = Wφ and s_j = 1 + Σ_{k≤j} p_k², the factor C of I + ppᵀ is known, and so
// is its inverse (Gill, Golub, Murray and Saunders 1974):
//   W′_i = √(s_{i−1}/s_i) W_i − p_i/√(s_{i−1} s_i) Σ_{j<i} p_j W_j.
// The last of those sums is Wᵀp, by which the mean moves. `work` (3,F) + 1 is scratch.
template <class Team>
PITS_HOST_DEVICE void observe(const Team& team, int F, const Regression& r, const double* x, double reward,
                              double* work) {
  double *p = work, *keep = p + F, *take = keep + F, *predictive = take + F;
  times(team, F, r.inverse, x, p);
  const double residual = reward - dot(team, F, x, r.mean);
  for (int j = team.thread; j < F; j += team.threads) {
    double before = 1.0;
    for (int k = 0; k < j; ++k) before += p[k] * p[k];
    const double after = before + p[j] * p[j];
    keep[j] = sqrt(before / after);
    take[j] = p[j] / sqrt(before * after);
    if (j == F - 1) *predictive = after;
  }
  team.sync();
  for (int c = team.thread; c < F; c += team.threads) {
    constexpr int ahead = 8;  // rows that are loaded before the first of them is stored
    double sum = 0.0, deviation = 0.0;
    for (int first = c; first < F; first += ahead) {
      double w[ahead];
      for (int k = 0; k < ahead; ++k) w[k] = first + k < F ? r.inverse[packed(first + k, c)] : 0.0;
      for (int k = 0; k < ahead; ++k) {
        const int i = first + k;
        if (i >= F) break;
        const double now = keep[i] * w[k] - take[i] * sum;
        sum += p[i] * w[k];
        deviation += r.draw[i] * now;
        r.inverse[packed(i, c)] = now;
      }
    }
    r.mean[c] += sum * (residual / *predictive);
    r.deviation[c] = deviation;
  }
  if (team.thread == 0) {
    r.totals->n += 1.0;
    r.totals->misfit += 0.5 * residual * residual / *predictive;
  }
  team.sync();
}

}  // namespace pits::cuda
