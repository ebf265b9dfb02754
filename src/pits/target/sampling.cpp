#include "pits/target/sampling.h"

#include <algorithm>
#include <cmath>

#include "pits/core/parallel.h"
#include "pits/target/metrics.h"

namespace pits {
namespace {

// The numbers of the exact clouds of a seed.
constexpr std::uint32_t mmd_cloud = 0;
constexpr std::uint32_t first_reference_cloud = 1;
constexpr std::uint32_t first_floor_cloud = 1000;

SampleConfig checked_sampling(SampleConfig config) {
  config = checked(std::move(config));
  target_entry(config.target);
  check_fit(config.flow, config.optimizer);
  return config;
}

// Measures clouds of one size against exact samples of the target.
class Judge {
 public:
  Judge(const Target& target, std::size_t points, std::uint64_t seed)
      : target_(target), mmd_(exact_cloud(target, reference_points, seed, mmd_cloud)) {
    for (std::uint32_t c = 0; c < reference_clouds; ++c) {
      references_.push_back(exact_cloud(target, points, seed, first_reference_cloud + c));
    }
  }

  Distances operator()(ConstMatrixView<double> theta) const {
    Matrix<double> score(theta.rows(), theta.cols());
    target_scores(target_, theta, score.view());
    return {.w2 = mean_w2(theta), .mmd = mmd_(theta), .ksd = ksd(theta, score)};
  }

 private:
  double mean_w2(ConstMatrixView<double> theta) const {
    std::vector<double> each(references_.size());
    parallel_for(each.size(), [&](std::size_t c) { each[c] = w2(theta, references_[c]); });
    double sum = 0.0;
    for (const double w : each) sum += w;
    return sum / static_cast<double>(each.size());
  }

  const Target& target_;
  Mmd mmd_;
  std::vector<Matrix<double>> references_;
};

Distances floor_of(const Judge& judge, const Target& target, std::size_t points, std::uint64_t seed) {
  Distances floor;
  for (std::uint32_t c = 0; c < floor_draws; ++c) {
    const Distances d = judge(exact_cloud(target, points, seed, first_floor_cloud + c));
    floor.w2 += d.w2 / floor_draws;
    floor.mmd += d.mmd / floor_draws;
    floor.ksd += d.ksd / floor_draws;
  }
  return floor;
}

Matrix<double> initial_particles(const SampleConfig& config, std::size_t dimension) {
  Matrix<double> theta(static_cast<std::size_t>(config.particles), dimension);
  Stream stream({.seed = config.seed, .purpose = Purpose::initial_particles});
  for (double& x : theta.flat()) x = config.init_sd * stream.normal();
  return theta;
}

// A cloud this far out has no finite distances any more.
void check_bounded(const SampleConfig& config, ConstMatrixView<double> theta, int iteration) {
  constexpr double bound = 1e100;
  if (std::ranges::all_of(theta.flat(), [](double x) { return std::abs(x) < bound; })) return;
  throw failed("the particles diverged at iteration {} (target {}, flow {}); a step below {} may help", iteration,
               config.target, format_value(config.flow.kind), config.optimizer.step);
}

// Keeps the frames whose places are nearest to an even spacing, first and last included.
void thin(std::vector<SampleFrame>& frames) {
  if (frames.size() <= most_frames) return;
  std::vector<SampleFrame> kept;
  for (std::size_t f = 0; f < most_frames; ++f) {
    kept.push_back(std::move(frames[f * (frames.size() - 1) / (most_frames - 1)]));
  }
  frames = std::move(kept);
}

}  // namespace

Fields fields(SampleConfig& c) {
  return Fields{}
      .add("target", c.target, "density to approximate; see 'pits list targets'")
      .add("particles", c.particles, "number of particles M", between(1, most_particles))
      .add("iterations", c.iterations, "steps of the flow", at_least(1))
      .add("record_every", c.record_every, "steps between two measurements", at_least(1))
      .add("init_sd", c.init_sd, "standard deviation of the particles' start around 0", above(0))
      .merge(fields(c.flow))
      .merge(fields(c.optimizer));
}

SampleResult run_sampling(const SampleConfig& unchecked) {
  const SampleConfig config = checked_sampling(unchecked);
  const std::unique_ptr<Target> target = make_target(config.target);
  Matrix<double> theta = initial_particles(config, target->dimension());
  check_bounded(config, theta, 0);
  const Judge judge(*target, theta.rows(), config.seed);

  SampleResult result;
  result.density = density_grid(*target, target->window(), density_cells, density_cells);
  result.floor = floor_of(judge, *target, theta.rows(), config.seed);
  const auto record = [&](int iteration) {
    result.records.push_back({iteration, judge(theta)});
    result.frames.push_back({iteration, theta});
  };
  record(0);
  Mover<double> mover(config.flow, config.optimizer, {.seed = config.seed});
  Matrix<double> score(theta.rows(), theta.cols());
  for (int t = 1; t <= config.iterations; ++t) {
    target_scores(*target, theta, score.view());
    mover.step(theta.view(), score);
    check_bounded(config, theta, t);
    if (t % config.record_every == 0 || t == config.iterations) record(t);
  }
  thin(result.frames);
  return result;
}

}  // namespace pits
