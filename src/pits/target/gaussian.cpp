#include "pits/target/gaussian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "pits/core/error.h"

namespace pits {
namespace {

double determinant(const GaussianComponent& c) { return c.variance[0] * c.variance[1] - c.covariance * c.covariance; }

// Σ⁻¹(μ − θ), the score of one component.
struct Pull {
  double x;
  double y;
};

Pull pull(const GaussianComponent& c, std::span<const double> theta) {
  const double dx = c.mean[0] - theta[0];
  const double dy = c.mean[1] - theta[1];
  const double det = determinant(c);
  return {(c.variance[1] * dx - c.covariance * dy) / det, (c.variance[0] * dy - c.covariance * dx) / det};
}

// log of weight · N(θ; μ, Σ), without the factor 1/2π.
double log_term(const GaussianComponent& c, std::span<const double> theta) {
  const Pull g = pull(c, theta);
  const double square = (c.mean[0] - theta[0]) * g.x + (c.mean[1] - theta[1]) * g.y;
  return std::log(c.weight) - 0.5 * std::log(determinant(c)) - 0.5 * square;
}

}  // namespace

GaussianMixture::GaussianMixture(std::vector<GaussianComponent> components, const Window& window)
    : components_(std::move(components)), window_(window) {
  if (components_.empty()) throw bad_input("mixture: needs at least one component");
  for (const GaussianComponent& c : components_) {
    if (!(c.weight > 0.0)) throw bad_input("mixture: weights must be positive, not {}", c.weight);
    if (!(c.variance[0] > 0.0) || !(determinant(c) > 0.0)) {
      throw bad_input("mixture: covariance ({}, {}; {}) is not positive definite", c.variance[0], c.variance[1],
                      c.covariance);
    }
    weights_.push_back(c.weight);
  }
}

double GaussianMixture::log_density(std::span<const double> theta) const {
  double highest = -std::numeric_limits<double>::infinity();
  for (const GaussianComponent& c : components_) highest = std::max(highest, log_term(c, theta));
  double sum = 0.0;
  for (const GaussianComponent& c : components_) sum += std::exp(log_term(c, theta) - highest);
  return highest + std::log(sum);
}

// Σ_k r_k(θ) Σ_k⁻¹(μ_k − θ), r_k the posterior probability of component k.
void GaussianMixture::score(std::span<const double> theta, std::span<double> out) const {
  const double log_p = log_density(theta);
  out[0] = out[1] = 0.0;
  for (const GaussianComponent& c : components_) {
    const double r = std::exp(log_term(c, theta) - log_p);
    const Pull g = pull(c, theta);
    out[0] += r * g.x;
    out[1] += r * g.y;
  }
}

void GaussianMixture::sample(Stream& stream, std::span<double> out) const {
  const GaussianComponent& c = components_[components_.size() == 1 ? 0 : stream.categorical(weights_)];
  const double z0 = stream.normal();
  const double z1 = stream.normal();
  const double sd0 = std::sqrt(c.variance[0]);
  const double slope = c.covariance / c.variance[0];
  out[0] = c.mean[0] + sd0 * z0;
  out[1] = c.mean[1] + slope * sd0 * z0 + std::sqrt(determinant(c) / c.variance[0]) * z1;
}

std::unique_ptr<Target> make_gaussian() {
  return std::make_unique<GaussianMixture>(
      std::vector<GaussianComponent>{{.weight = 1.0, .mean = {0.0, 0.0}, .variance = {1.0, 0.5}, .covariance = 0.4}},
      Window{-3.5, 3.5, -3.0, 3.0});
}

std::unique_ptr<Target> make_mixture() {
  return std::make_unique<GaussianMixture>(
      std::vector<GaussianComponent>{
          {.weight = 0.5, .mean = {-1.3, -0.6}, .variance = {0.5, 0.3}, .covariance = 0.15},
          {.weight = 0.3, .mean = {1.4, -0.5}, .variance = {0.3, 0.5}, .covariance = -0.1},
          {.weight = 0.2, .mean = {0.2, 1.7}, .variance = {0.4, 0.2}, .covariance = 0.0},
      },
      Window{-4.0, 4.0, -3.5, 4.0});
}

}  // namespace pits
