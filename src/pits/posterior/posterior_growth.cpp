// Actions that come during a run.
#include "pits/model/growth.h"
#include "pits/posterior/posterior.h"

namespace pits {

ParameterMap Posterior::add_actions(std::size_t n) {
  const auto heads = static_cast<std::size_t>(config_.model.heads);
  RewardModel after(config_.model, model_.context_size(), model_.actions() + n * heads);
  const ParameterMap outputs = grown_outputs(model_.actions(), n, heads);
  ParameterMap map = grown_parameters(model_.network(), after.network(), outputs);
  const ParameterMap one_noise = {0};
  if (config_.model.noise != Noise::fixed && !model_.bernoulli()) {
    const bool shared = config_.model.noise == Noise::learned;
    map = appended(std::move(map), model_.network().parameters(), shared ? one_noise : outputs);
  }
  address_.purpose = Purpose::initial_particles;
  address_.step = static_cast<std::uint32_t>(after.actions());  // 0: the start of the run
  Stream stream(address_);
  Particles start(theta_.rows(), after.parameters());
  after.initialise(stream, start);
  mover_.grow(map, start);
  anchors_ = grown<float>(anchors_, map, start);
  theta_ = grown<float>(theta_, map, start);
  history_.add_actions(n, heads);
  model_ = std::move(after);
  if (last_layers_) last_layers_->add_actions(*this, n);
  if (mixture_) mixture_->add_actions(*this, n);
  if (forgetting_) forgetting_->add_actions(n);
  return map;
}

}  // namespace pits
