// Particles and observations of a shape, the same for everybody who is measured.
#pragma once

#include "pits/bench/cases.h"
#include "pits/posterior/posterior.h"

namespace pits::bench {

PosteriorConfig particle_config(const Shape& shape, Products products = Products::float32);

// n contexts of the shape, (n,d).
Matrix<float> contexts_of(const Shape& shape, std::size_t n);

// history_size observations, actions in turn at random, rewards N(0,1).
void teach(const Shape& shape, const std::function<void(const Observation&)>& observe);

Posterior taught_posterior(const Shape& shape, Products products = Products::float32);

}  // namespace pits::bench
