// The networks of the showdown (Riquelme et al. 2018), the setting that the paper's baselines share: one hidden ReLU
// layer of 50, weights U(−0.3, 0.3), mean squared error of 512 observations drawn with replacement, gradient norm
// clipped at 5, TensorFlow's RMSProp with step 0.1/(1 + 0.5·k), 100 steps every 50 rounds.
#pragma once

#include <cmath>

#include "pits/posterior/particles.h"

namespace pits {

// The showdown's code means to restart the schedule at every training, but its optimiser never sees the new one: what
// was run is `restart = false`, what was meant is `restart = true`.
inline ParticleConfig showdown_networks(int particles) {
  ParticleConfig c;
  c.particles = particles;
  c.flow.kind = FlowKind::ensemble;
  c.model.noise_sd = std::sqrt(0.5);  // log p = −(r − m)²: the squared error
  c.model.prior_precision = 0.0;
  c.model.init = Init::uniform;
  c.model.init_range = 0.3;
  c.scale = LikelihoodScale::mean;
  c.optimizer = {.rule = Rule::rmsprop,
                 .step = 0.1,
                 .schedule = Schedule::inverse,
                 .decay = 0.5,
                 .clip = 5.0,
                 .second_moment = 0.9,
                 .epsilon = 1e-5,  // TensorFlow adds 1e-10 under the root
                 .first_square = 1.0};
  return c;
}

}  // namespace pits
