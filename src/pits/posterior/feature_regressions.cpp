#include "pits/posterior/feature_regressions.h"

#include <algorithm>
#include <cmath>

#include "pits/core/error.h"
#include "pits/core/simd/inverse.h"
#include "pits/core/simd/kernels.h"
#include "pits/core/simd/normals.h"
#include "pits/model/kernels/layer_views.h"
#include "pits/posterior/last_layer_config.h"

namespace pits {
namespace {

std::size_t begin(const CoefficientGroup& group) { return static_cast<std::size_t>(group.first); }
std::size_t end(const CoefficientGroup& group) { return static_cast<std::size_t>(group.first + group.count); }

float dot(std::span<const float> a, std::span<const float> b) {
  float sum = 0.0F;
  add_product_transposed(row_view(a), row_view(b), MatrixView<float>(&sum, 1, 1));
  return sum;
}

// out = M x
void times(ConstMatrixView<float> m, std::span<const float> x, std::span<float> out) {
  std::ranges::fill(out, 0.0F);
  add_product_transposed(m, row_view(x), MatrixView<float>(out.data(), out.size(), 1));
}

// to += a bᵀ
void add_outer(std::span<const float> a, std::span<const float> b, MatrixView<float> to) {
  add_product(Factor<float>{a.data(), a.size(), 1, 1, 1}, row_view(b), to);
}

float narrowed(double x) { return static_cast<float>(x); }

void add_scaled(float factor, std::span<const float> x, std::span<float> to) {
  for (std::size_t l = 0; l < x.size(); ++l) to[l] += factor * x[l];
}

}  // namespace

// What the regressions of a fit say of the precisions (MacKay 1992).
struct FeatureRegressions::Evidence {
  std::vector<double> gamma, squares;  // of each group: Σ_a γ, Σ_a |mean|²
  double residuals = 0.0, n = 0.0;

  void clear(std::size_t groups) {
    gamma.assign(groups, 0.0);
    squares.assign(groups, 0.0);
    residuals = n = 0.0;
  }
};

FeatureRegressions::FeatureRegressions(std::vector<CoefficientGroup> groups, std::size_t actions, std::size_t draws,
                                       const NoisePrior& noise)
    : groups_(std::move(groups)), noise_(noise), n_(actions), misfit_(actions) {
  std::ptrdiff_t features = 0;
  for (const CoefficientGroup& group : groups_) features += group.count;
  mean_ = Matrix<float>(actions, static_cast<std::size_t>(features));
  draws_ = Matrix<float>(draws * actions, mean_.cols());
  covariance_.assign(actions, Matrix<float>());
}

void FeatureRegressions::start(const Address& draws) { redraw(0, actions(), draws, {}); }

void FeatureRegressions::forget(std::size_t action) {
  std::ranges::fill(mean_.row(action), 0.0F);
  n_[action] = misfit_[action] = 0.0;
  forget_covariance(action);
}

void FeatureRegressions::forget_covariance(std::size_t action) { covariance_[action] = CopyOnWrite(Matrix<float>()); }

Matrix<float>& FeatureRegressions::edit_covariance(std::size_t action) {
  Matrix<float>& p = covariance_[action].edit();
  if (p.size() > 0) return p;
  p = Matrix<float>(features(), features());
  for (const CoefficientGroup& group : groups_) {
    for (std::size_t l = begin(group); l < end(group); ++l) {
      p(l, l) = static_cast<float>(1.0 / group.precision);
    }
  }
  return p;
}

void FeatureRegressions::take_shape(const FeatureRegressions& other) {
  groups_ = other.groups_;
  noise_ = other.noise_;
  if (mean_.rows() == other.actions() && mean_.cols() == other.features() && draws_.rows() == other.draws_.rows())
    return;
  mean_.reshape(other.actions(), other.features());
  draws_.reshape(other.draws_.rows(), other.features());
  n_.resize(other.actions());
  misfit_.resize(other.actions());
  covariance_.assign(other.actions(), Matrix<float>());
}

// Only solve() throws: all are solved before anything changes.
void FeatureRegressions::fit(const FeatureRegressions& before, std::span<const RegressionSums> sums,
                             const Address& draws) {
  const std::size_t K = before.actions(), F = before.features();
  thread_local std::vector<Matrix<float>> inverses;
  thread_local Matrix<double> w, means;
  inverses.resize(K);
  means.reshape(K, F);
  for (std::size_t a = 0; a < K; ++a) {
    const bool known = sums[a].n > 0.0;
    inverses[a].reshape(known ? F : 0, known ? F : 0);
    if (!known) continue;
    before.solve(sums[a], w, means.row(a));
    std::ranges::transform(w.flat(), inverses[a].flat().begin(), narrowed);
  }
  take_shape(before);
  thread_local Evidence evidence;
  evidence.clear(groups_.size());
  for (std::size_t a = 0; a < K; ++a) {
    if (sums[a].n > 0.0) {
      fit(a, sums[a], inverses[a], means.row(a), evidence);
    } else {
      forget(a);
    }
  }
  step_precisions(evidence);  // before the draws: actions without observations have the new prior
  redraw(0, K, draws, inverses);
}

// sums.xx holds the lower triangle column by column, which is the upper one row by row. mean = W Wᵀ Xᵀy.
void FeatureRegressions::solve(const RegressionSums& sums, Matrix<double>& w, std::span<double> mean) const {
  const std::size_t F = features();
  thread_local Matrix<double> upper;
  thread_local std::vector<double> y;
  if (upper.rows() != F) upper.reshape(F, F);
  if (w.rows() != F) w.reshape(F, F);
  double ridge = 1.0;  // more where rounding leaves collinear features nothing else
  do {
    if (ridge > 1e6) throw failed("a regression of {} observations is singular to working precision", sums.n);
    std::copy_n(sums.xx.data(), F * F, upper.data());
    for (const CoefficientGroup& group : groups_) {
      for (std::size_t l = begin(group); l < end(group); ++l) upper(l, l) += ridge * group.precision;
    }
    ridge *= 8.0;
  } while (!factor_upper(upper));
  invert_upper(upper, w);
  y.assign(F, 0.0);
  std::ranges::fill(mean, 0.0);
  for (std::size_t i = 0; i < F; ++i) {
    const double moment = sums.xy[static_cast<Eigen::Index>(i)];
    for (std::size_t j = i; j < F; ++j) y[j] += w(i, j) * moment;
  }
  for (std::size_t i = 0; i < F; ++i) {
    for (std::size_t j = i; j < F; ++j) mean[i] += w(i, j) * y[j];
  }
}

void FeatureRegressions::fit(std::size_t action, const RegressionSums& sums, const Matrix<float>& inverse,
                             std::span<const double> mean, Evidence& evidence) {
  const std::size_t F = features();
  Matrix<float>& p = covariance_[action].edit();
  p.reshape(F, F);
  add_gram(inverse.view(), p, Rows::triangular);
  for (std::size_t i = 0; i < F; ++i) {
    for (std::size_t j = 0; j < i; ++j) p(i, j) = p(j, i);
  }
  double explained = 0.0;
  for (std::size_t l = 0; l < F; ++l) explained += mean[l] * sums.xy[static_cast<Eigen::Index>(l)];
  std::ranges::transform(mean, mean_.row(action).begin(), narrowed);
  n_[action] = sums.n;
  misfit_[action] = std::max(0.0, 0.5 * (sums.yy - explained));
  add_evidence(mean, p, sums, explained, evidence);
}

// meanᵀ XᵀX mean = meanᵀ Xᵀy − Σ λ mean²
void FeatureRegressions::add_evidence(std::span<const double> mean, const Matrix<float>& p, const RegressionSums& sums,
                                      double explained, Evidence& evidence) const {
  double penalty = 0.0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const CoefficientGroup& group = groups_[g];
    double trace = 0.0, squares = 0.0;
    for (std::size_t l = begin(group); l < end(group); ++l) {
      trace += p(l, l);
      squares += mean[l] * mean[l];
    }
    evidence.gamma[g] += std::max(0.0, static_cast<double>(group.count) - group.precision * trace);
    evidence.squares[g] += squares;
    penalty += group.precision * squares;
  }
  evidence.residuals += std::max(0.0, sums.yy - explained - penalty);
  evidence.n += sums.n;
}

void FeatureRegressions::step_precisions(const Evidence& e) {
  double free = e.n;
  for (const double gamma : e.gamma) free -= gamma;
  const double variance = (2.0 * noise_.scale + e.residuals) / (2.0 * noise_.shape + std::max(0.0, free));
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    CoefficientGroup& group = groups_[g];
    const double expected = group.variance > 0.0 ? group.variance : variance / group.expected;
    const double precision = variance * (e.gamma[g] + group.weight) / (e.squares[g] + group.weight * expected);
    group.precision = std::clamp(precision, group.low, group.high);
  }
}

// δ = W z; without observations z over the root of the precision.
void FeatureRegressions::redraw(std::size_t first, std::size_t last, const Address& address,
                                std::span<const Matrix<float>> inverses) {
  const std::size_t F = features(), S = draws();
  thread_local Matrix<float> all;  // z: S rows for each action
  all.reshape((last - first) * S, F);
  fill_normals(address, all.flat());
  for (std::size_t a = first; a < last; ++a) {
    const ConstMatrixView<float> z = std::as_const(all).view().row_block((a - first) * S, S);
    const MatrixView<float> deviation = deviations(a);
    for (std::size_t s = 0; s < S; ++s) std::ranges::fill(deviation.row(s), 0.0F);
    if (a < inverses.size() && inverses[a].size() > 0) {
      add_product_transposed(z, inverses[a].view(), deviation);
      continue;
    }
    for (const CoefficientGroup& group : groups_) {
      const auto sd = static_cast<float>(1.0 / std::sqrt(group.precision));
      for (std::size_t s = 0; s < S; ++s) {
        for (std::size_t l = begin(group); l < end(group); ++l) deviation(s, l) = sd * z(s, l);
      }
    }
  }
}

void FeatureRegressions::observe(std::size_t action, std::span<const float> features, double reward,
                                 std::span<const float> noise) {
  const std::size_t F = this->features();
  Matrix<float>& p = edit_covariance(action);
  const MatrixView<float> deviation = deviations(action);
  thread_local std::vector<float> g, down, step;  // Pφ; −Pφ/(1 + φ·Pφ); by how much of Pφ each draw moves
  g.resize(F);
  step.resize(noise.size());
  times(std::as_const(p).view(), features, g);
  const float predictive = 1.0F + std::max(0.0F, dot(features, g));
  const float residual = static_cast<float>(reward) - dot(features, mean_.row(action));
  add_scaled(residual / predictive, g, mean_.row(action));
  times(deviation, features, step);
  for (std::size_t s = 0; s < step.size(); ++s) step[s] = -(step[s] + noise[s]) / predictive;
  add_outer(step, g, deviation);
  down.assign(F, 0.0F);
  add_scaled(-1.0F / predictive, g, down);
  add_outer(down, g, p);
  n_[action] += 1.0;
  misfit_[action] += 0.5 * residual * residual / predictive;
}

double FeatureRegressions::noise_variance() const {
  double shape = noise_.shape, scale = noise_.scale;
  for (std::size_t a = 0; a < actions(); ++a) {
    shape += 0.5 * n_[a];
    scale += misfit_[a];
  }
  return scale / shape;
}

double FeatureRegressions::noise_variance(double shared, std::size_t action) const {
  using C = LastLayerConstants;
  const double own = (C::own_noise_pairs * shared + misfit_[action]) / (C::own_noise_pairs + 0.5 * n_[action]);
  return std::max(shared, own);
}

void FeatureRegressions::add_actions(std::size_t n, const Address& address) {
  const std::size_t K = actions(), F = features(), S = draws();
  const auto widened = [&](const Matrix<float>& from, std::size_t blocks) {
    Matrix<float> to(blocks * (K + n), F);
    for (std::size_t b = 0; b < blocks; ++b) {
      for (std::size_t a = 0; a < K; ++a) std::ranges::copy(from.row(b * K + a), to.row(b * (K + n) + a).begin());
    }
    return to;
  };
  draws_ = widened(draws_, S);
  mean_ = widened(mean_, 1);
  n_.resize(K + n);
  misfit_.resize(K + n);
  covariance_.resize(K + n, Matrix<float>());
  redraw(K, K + n, address, {});
}

void FeatureRegressions::state(Archive& archive) {
  archive.version("FeatureRegressions", 1)(groups_, mean_, draws_, n_, misfit_);
  if (archive.policy()) return;  // draws are held
  for (std::size_t a = 0; a < actions(); ++a) {
    bool known = covariance_[a]->size() > 0;
    archive(known);
    if (archive.reading()) forget_covariance(a);
    if (known) archive(edit_covariance(a));
  }
}

}  // namespace pits
