// Observations for the particle posterior, also as the plain loops of tests/model take them.
#pragma once

#include "model/plain_model.h"
#include "pits/posterior/posterior.h"

namespace pits::test {

// r = x·β_a + ½ + N(0, noise²), x ~ N(0, I), actions drawn evenly; numbers that float holds exactly.
inline std::vector<PlainObservation> linear_data(std::size_t n, std::size_t d, std::size_t K, std::uint64_t seed,
                                                 double noise = 0.5) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  std::vector<double> beta(d * K);
  for (double& b : beta) b = stream.normal();
  std::vector<PlainObservation> data(n, PlainObservation{.x = std::vector<double>(d), .action = 0, .reward = 0.0});
  for (PlainObservation& o : data) {
    o.action = stream.index(static_cast<std::uint32_t>(K));
    double mean = 0.5;
    for (std::size_t l = 0; l < d; ++l) {
      o.x[l] = static_cast<float>(stream.normal());
      mean += o.x[l] * beta[o.action * d + l];
    }
    o.reward = static_cast<float>(mean + noise * stream.normal());
  }
  return data;
}

inline void observe(Posterior& posterior, const PlainObservation& o) {
  const std::vector<float> x(o.x.begin(), o.x.end());
  posterior.observe(
      {.context = x, .action = static_cast<std::uint32_t>(o.action), .reward = static_cast<float>(o.reward)});
}

}  // namespace pits::test
