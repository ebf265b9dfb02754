#include "pits/agent/langevin.h"

namespace pits {

// L grows with the t observations, so steps fall as 1/t: a step of training for every round, and
// step/(1 + k/20) = 20·step/(20 + k).
PiTsConfig langevin_preset(std::string_view) {
  PiTsConfig c;
  c.posterior.particles = 1;
  c.posterior.flow.kind = FlowKind::sgld;
  c.posterior.model.init = Init::fan_in;
  c.posterior.optimizer = {.rule = Rule::sgd, .step = 1e-5, .schedule = Schedule::inverse, .decay = 0.05};
  c.posterior.batch = 0;
  c.train_every = 20;
  c.train_steps = 20;
  return c;
}

}  // namespace pits
