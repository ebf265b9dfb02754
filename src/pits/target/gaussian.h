// Gaussians in the plane and mixtures of them.
#pragma once

#include "pits/target/target.h"

namespace pits {

struct GaussianComponent {
  double weight;  // relative: the weights of a mixture need not sum to 1
  double mean[2];
  double variance[2];
  double covariance;
};

class GaussianMixture : public Target {
 public:
  GaussianMixture(std::vector<GaussianComponent> components, const Window& window);

  double log_density(std::span<const double> theta) const override;
  void score(std::span<const double> theta, std::span<double> out) const override;
  void sample(Stream& stream, std::span<double> out) const override;
  Window window() const override { return window_; }
  const std::vector<GaussianComponent>& components() const { return components_; }

 private:
  std::vector<GaussianComponent> components_;
  std::vector<double> weights_;
  Window window_;
};

std::unique_ptr<Target> make_gaussian();
std::unique_ptr<Target> make_mixture();

}  // namespace pits
