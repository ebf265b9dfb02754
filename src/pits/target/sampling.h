// The static scenario: particles of a flow approximate a known density, and are measured on the way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pits/flow/mover.h"
#include "pits/target/target.h"

namespace pits {

struct SampleConfig {
  std::string target = "banana";
  FlowConfig flow{.kind = FlowKind::svgd};
  OptimizerConfig optimizer{.rule = Rule::adam, .step = 0.05};
  int particles = 100;
  int iterations = 1000;
  int record_every = 20;
  double init_sd = 0.3;  // particles start at N(0, init_sd² I)
  std::uint64_t seed = 0;
};
// All but the seed, which is an address and no setting of the method.
Fields fields(SampleConfig& config);

// See metrics.h.
struct Distances {
  double w2 = 0.0;   // mean over `reference_clouds` exact clouds of as many points as there are particles
  double mmd = 0.0;  // to one exact sample of `reference_points`
  double ksd = 0.0;
};

struct SampleRecord {
  int iteration = 0;  // steps done: 0 is the initial cloud
  Distances distances;
};

struct SampleFrame {
  int iteration = 0;
  Matrix<double> particles;  // (M,P)
};

struct SampleResult {
  std::vector<SampleRecord> records;  // 0, record_every, 2·record_every, ..., and the last iteration
  std::vector<SampleFrame> frames;    // at most `most_frames` of the recorded iterations, the first and last included
  // What as many exact draws score on average over `floor_draws` clouds. Particles that repel each other cover the
  // density more evenly than independent draws and can score below it.
  Distances floor;
  DensityGrid density;
};

constexpr int reference_clouds = 5;
constexpr int reference_points = 1000;
constexpr int floor_draws = 20;
constexpr int most_frames = 60;
constexpr int most_particles = 2000;  // W2 is an exact assignment: its time grows with the cube
constexpr int density_cells = 120;    // a side

// The same config gives the same bits. Throws Error(input) for a bad config and Error(failed) when the particles
// diverge.
SampleResult run_sampling(const SampleConfig& config);

}  // namespace pits
