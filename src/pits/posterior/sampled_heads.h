// The held draws of last layers (last_layers.h): what decisions need of them.
#pragma once

#include <span>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/flow/velocity.h"
#include "pits/model/network.h"

namespace pits {

struct SampledHeads {
  std::size_t actions = 0;
  bool inputs = false;    // contexts are features too
  bool intercept = true;  // so is 1
  bool optimistic = false;
  float mean_shrinkage = 1.0F;    // ρ
  Matrix<float> mean, deviation;  // (M·K,F): row i·K + a
  Matrix<float> draw_sd;          // (M,K) κσ
  float low = 0.0F, high = 0.0F;  // bounds of the means

  bool independent() const { return mean_shrinkage == 1.0F; }  // a particle's rewards do not depend on the others
  // Rewards of every action by every particle, (M,K); x as the networks see it. All in the networks' units.
  void values(const Network& network, ParticlesView theta, std::span<const float> x, Network::Workspace& w,
              Matrix<float>& out) const;
  // The same of particle i, (K), where it is independent.
  void values(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x,
              Network::Workspace& w, std::span<float> out) const;

 private:
  // Its means, (K), and how far its draws lie from them.
  void means(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x,
             Network::Workspace& w, std::span<float> mean_out, std::span<float> offset) const;
};

// The features of one context: hidden units, the context where it is one of them, 1.
template <class Number>
void find_features(std::span<const float> units, std::span<const float> x, const SampledHeads& heads,
                   std::vector<Number>& features) {
  features.assign(units.begin(), units.end());
  if (heads.inputs) features.insert(features.end(), x.begin(), x.end());
  if (heads.intercept) features.push_back(1);
}

}  // namespace pits
