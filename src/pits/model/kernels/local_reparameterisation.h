// The elementwise step of local reparameterisation (Kingma, Salimans and Welling 2015), as a Highway kernel.
#pragma once

#include <span>

namespace pits {

// With s = √(variance + floor): z ← z + s·noise, and noise ← noise/(2s), the slope of z in the variance.
void perturb(std::span<float> z, std::span<const float> variance, float floor, std::span<float> noise);

}  // namespace pits
