// What agents on one network have in common: the network, and when it is trained.
#pragma once

#include "pits/agent/pi_ts.h"
#include "pits/agent/showdown.h"

namespace pits {

struct NetworkConfig {
  ParticleConfig network = showdown_networks(1);
  int initial_pulls = 2;  // forced pulls of each action
  int train_every = 50;   // rounds between trainings
  int train_steps = 100;
};
Fields fields(NetworkConfig& config);

// Presets of every agent with the showdown's networks. `showdown`: what was run. `showdown-reset`: what was meant, the
// step size starting anew at every training.
NetworkConfig network_preset(std::string_view name);
PiTsConfig showdown_particles(int particles, std::string_view preset);
// The same, or `auto`: networks, units and trainings of pi-ts:auto, without its flow and its last layers.
PiTsConfig independent_particles(int particles, std::string_view preset);

// One particle, no flow: π-TS with M = 1.
PiTsConfig as_particles(const NetworkConfig& config);

}  // namespace pits
