#include "pits/model/mean_gradient.h"

#include <algorithm>

namespace pits {

void MeanGradient::at(const RewardModel& model, std::span<const float> theta, std::span<const float> x) {
  means_.resize(model.actions());
  model.predict(theta, x, workspace_, means_);
  if (batch_.contexts.rows() != x.size()) batch_.contexts.reshape(x.size(), 1);
  for (std::size_t l = 0; l < x.size(); ++l) batch_.contexts(l, 0) = x[l];
  batch_.rewards.resize(1);
}

std::span<const float> MeanGradient::gradient(const RewardModel& model, std::span<const float> theta, std::size_t a) {
  batch_.group_start.assign(model.actions() + 1, 0);
  std::fill(batch_.group_start.begin() + static_cast<std::ptrdiff_t>(a) + 1, batch_.group_start.end(), 1);
  gradient_.assign(model.parameters(), 0.0F);
  float output = 0.0F;
  model.network().forward(theta, batch_, workspace_, {&output, 1});
  const float slope = model.bernoulli() ? means_[a] * (1.0F - means_[a]) : 1.0F;
  model.network().backward(theta, batch_, {&slope, 1}, workspace_, gradient_);
  return gradient_;
}

}  // namespace pits
