#include "pits/cuda/mixture/gpu_mixture.cuh"

#include <algorithm>

#include "pits/cuda/last_layer/factoring.cuh"
#include "pits/cuda/mixture/mixture_fit.cuh"
#include "pits/cuda/mixture/round.h"

namespace pits::cuda {
namespace {

constexpr int threads = 256;
constexpr int decide_threads = 512;

// Of rounds first .. first+count−1. Blocks (set, realization).
__global__ void __launch_bounds__(threads)
    features_kernel(const GroupView group, const MixtureView v, int first, int count) {
  extern __shared__ double memory[];
  find_features(Block(), group, v, blockIdx.y, blockIdx.x, first, count, memory);
}

// Blocks (realization); shared memory: values (K).
__global__ void __launch_bounds__(decide_threads)
    decide_kernel(const GroupView group, const MixtureView v, const DecisionSettings choice, int t, int ahead) {
  extern __shared__ double memory[];
  decide(Block(), group, v, choice, blockIdx.x, t, ahead, memory);
}

// Blocks (set, realization).
__global__ void __launch_bounds__(threads) learn_kernel(const GroupView group, const MixtureView v, int t, int ahead) {
  extern __shared__ float numbers[];
  learn(Block(), group, v, blockIdx.y, blockIdx.x, t, ahead, numbers);
}

// Blocks (realization).
__global__ void __launch_bounds__(threads) end_kernel(const GroupView group, const MixtureView v, int t) {
  extern __shared__ double memory[];
  end_round(Block(), group, v, blockIdx.x, t, memory);
}

// The random projections of long contexts, as Forgetting draws them. Blocks (numbers, realization).
__global__ void projection_kernel(const GroupView group, int count, float sd, float* out) {
  const int e = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), g = blockIdx.y;
  if (e >= count) return;
  const Address address{
      .seed = group.seed, .realization = group.realization[g], .purpose = Purpose::agent_private, .step = 0};
  out[static_cast<std::int64_t>(g) * count + e] = sd * static_cast<float>(normal(address, e));
}

// σ² of the networks in the rewards' own units. Blocks (network of a realization), a warp each.
__global__ void noise_kernel(const GroupView group, const MixtureView v, double* out) {
  const Block team;
  const int g = blockIdx.x / group.particles, i = blockIdx.x % group.particles;
  if (v.training[g].trainings < 2) return;  // before the first fit nothing is known of it
  const double variance = v.noise(team, group, g, i);
  if (team.thread == 0) out[blockIdx.x] = in_raw_units(variance, group.reward_units[g]);
}

// 1/σ² of the networks' likelihoods, in the units of now.
__global__ void training_noise_kernel(const GroupView group, const double* variances, float* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), g = i / group.particles;
  if (g >= group.realizations || group.training[g].trains == 0 || group.training[g].trainings < 2) return;
  out[i] = training_precision(group.noise_precision, variances[i], group.reward_units[g]);
}

NetworkLayout no_network() {
  NetworkLayout none;
  none.layers = 1;
  return none;
}

int tile_of(const Settings& s) {
  return std::min(largest_tile(s.network, s.last_layer.features),
                  largest_tile(no_network(), s.mixture.linear.features));
}

// Elements of the arrays of a group.
struct Counts {
  std::size_t sets, regressions, width, triangle, draws, tile, change, projection;

  Counts(const Settings& s, std::size_t G)
      : sets(G * (static_cast<std::size_t>(s.particles) + 1)),
        regressions(sets * static_cast<std::size_t>(s.actions)),
        width(static_cast<std::size_t>(std::max(s.last_layer.features, s.mixture.linear.features))),
        triangle(static_cast<std::size_t>(packed_size(static_cast<int>(width)))),
        draws(static_cast<std::size_t>(s.last_layer.config.held_draws)),
        tile(static_cast<std::size_t>(tile_of(s))) {
    const int F = ChangeView::features_of(s.context_size);
    const std::size_t actions = G * static_cast<std::size_t>(s.actions);
    change = s.mixture.adaptive ? actions * static_cast<std::size_t>(ChangeView::numbers_per_action(F)) : 0;
    const bool long_contexts = s.mixture.adaptive && s.context_size > ForgettingConstants::most_inputs;
    projection = long_contexts ? G * static_cast<std::size_t>(F - 1) * static_cast<std::size_t>(s.context_size) : 0;
  }
};

}  // namespace

GpuMixture::PinnedFlag::PinnedFlag() {
  check(cudaMallocHost(&data, sizeof *data), "cudaMallocHost");
  *data = 0;
}

std::size_t GpuMixture::bytes(const Settings& s, std::size_t G, std::size_t T) {
  const Counts c(s, G);
  const auto M = static_cast<std::size_t>(s.particles), K = static_cast<std::size_t>(s.actions);
  const std::size_t floats =
      c.regressions * c.width * (c.width + 1 + c.draws) + c.sets * c.tile * c.width + c.projection + G * M;
  const std::size_t doubles = c.regressions * (c.triangle + c.width + 1) + c.sets * most_prior_groups + c.change +
                              G * M + factor_scratch(static_cast<int>(c.width), c.regressions);
  return sizeof(float) * floats + sizeof(double) * doubles +
         c.regressions * (sizeof(RegressionTotals) + sizeof(EvidenceTerms)) +
         G * (sizeof(MixtureState) + sizeof(ChangeState)) +
         G * K * ForgettingConstants::trackers * sizeof(TrackerTimes) +
         sizeof(std::int32_t) * (G * T + T + 1 + G * (2 * K + 2));
}

void GpuMixture::allocate(const Settings& s, std::size_t G, std::size_t T) {
  const Counts c(s, G);
  const auto M = static_cast<std::size_t>(s.particles), K = static_cast<std::size_t>(s.actions);
  covariance_ = DeviceArray<float>(c.regressions * c.width * c.width);
  mean_ = DeviceArray<float>(c.regressions * c.width);
  deviation_ = DeviceArray<float>(c.regressions * c.draws * c.width);
  features_ = DeviceArray<float>(c.sets * c.tile * c.width);
  projection_ = DeviceArray<float>(c.projection);
  noise_precisions_ = DeviceArray<float>(std::vector<float>(G * M, s.noise_precision));
  noise_variances_ = DeviceArray<double>(G * M);
  sums_ = DeviceArray<double>(c.regressions * c.triangle);
  moment_ = DeviceArray<double>(c.regressions * c.width);
  set_means_ = DeviceArray<double>(c.regressions);
  scratch_ = DeviceArray<double>(factor_scratch(static_cast<int>(c.width), c.regressions));
  change_numbers_ = DeviceArray<double>(c.change);
  totals_ = DeviceArray<RegressionTotals>(c.regressions);
  evidence_terms_ = DeviceArray<EvidenceTerms>(c.regressions);
  state_ = DeviceArray<MixtureState>(std::vector<MixtureState>(G, {0.0, linear_weight(0.0), 0.0}));
  times_ = DeviceArray<TrackerTimes>(s.mixture.adaptive ? G * K * ForgettingConstants::trackers : 0);
  change_state_ = DeviceArray<ChangeState>(std::vector<ChangeState>(G, ChangeState{.scores = {}, .error = 1.0}));
  pulls_ = DeviceArray<std::uint32_t>(G * K);
  intervals_ = DeviceArray<std::uint32_t>(s.mixture.intervals);
  order_ = DeviceArray<std::int32_t>(G * T);
  start_ = DeviceArray<std::int32_t>(G * (K + 1));
  singular_ = DeviceArray<std::int32_t>(G);
  std::vector<double> precision(c.sets * most_prior_groups);
  for (std::size_t i = 0; i < c.sets; ++i) {
    const LastLayerSettings& of = i % (M + 1) == M ? s.mixture.linear : s.last_layer;
    for (int g = 0; g < of.groups; ++g) {
      precision[i * most_prior_groups + static_cast<std::size_t>(g)] = of.group[g].precision;
    }
  }
  precision_ = DeviceArray<double>(precision);
  totals_.fill_zero();
  times_.fill_zero();
  pulls_.fill_zero();
  singular_.fill_zero();
  mean_.fill_zero();
}

GpuMixture::GpuMixture(const Settings& s, int realizations, int rounds, TrainingState* training) {
  allocate(s, static_cast<std::size_t>(realizations), static_cast<std::size_t>(rounds));
  view_ = {.networks = {s.last_layer, s.network},
           .linear = {s.mixture.linear, no_network()},
           .sets = s.particles + 1,
           .draws = s.last_layer.config.held_draws,
           .width = std::max(s.last_layer.features, s.mixture.linear.features),
           .tile = tile_of(s),
           .covariance = covariance_.data(),
           .mean = mean_.data(),
           .deviation = deviation_.data(),
           .sums = sums_.data(),
           .moment = moment_.data(),
           .totals = totals_.data(),
           .evidence_terms = evidence_terms_.data(),
           .precision = precision_.data(),
           .set_means = set_means_.data(),
           .features = features_.data(),
           .state = state_.data(),
           .pulls = pulls_.data(),
           .intervals = intervals_.data(),
           .training = training,
           .any_trains = any_trains_.data,
           .change = {.inputs = s.context_size,
                      .features = s.mixture.adaptive ? ChangeView::features_of(s.context_size) : 0,
                      .numbers = change_numbers_.data(),
                      .times = times_.data(),
                      .state = change_state_.data(),
                      .projection = projection_.size() > 0 ? projection_.data() : nullptr},
           .order = order_.data(),
           .start = start_.data(),
           .singular = singular_.data(),
           .scratch = scratch_.data()};
}

void GpuMixture::start(const GroupView& group, cudaStream_t stream) {
  if (view_.change.projection != nullptr) {
    const int count = (view_.change.features - 1) * view_.change.inputs;
    const auto sd = static_cast<float>(1.0 / std::sqrt(static_cast<double>(view_.change.inputs)));
    const dim3 grid(blocks_for(static_cast<std::size_t>(count), threads), static_cast<unsigned>(group.realizations));
    projection_kernel<<<grid, threads, 0, stream>>>(group, count, sd, projection_.data());
    check(cudaGetLastError(), "mixture: projections");
  }
  start_regressions(group, view_, stream);
}

int GpuMixture::play(const GroupView& group, const DecisionSettings& choice, int first, int last,
                     const GpuStream& stream) {
  const auto G = static_cast<unsigned>(group.realizations), sets = static_cast<unsigned>(view_.sets);
  const std::size_t tile = view_.tile_room(), values = static_cast<std::size_t>(group.actions) * sizeof(double);
  const auto of_learning = static_cast<std::size_t>(2 * (view_.width + view_.draws)) * sizeof(float);
  const auto of_change = static_cast<std::size_t>(ChangeView::scratch_doubles(view_.change.features)) * sizeof(double);
  allow_shared(features_kernel, tile);
  allow_shared(decide_kernel, values);
  allow_shared(learn_kernel, of_learning);
  *any_trains_ = 0;
  int t = first;
  while (t < last && *any_trains_ == 0) {
    const int ahead = (t - first) % view_.tile;
    if (ahead == 0) {
      features_kernel<<<dim3(sets, G), threads, tile, stream.handle>>>(group, view_, t, std::min(last - t, view_.tile));
      check(cudaGetLastError(), "mixture: features");
    }
    decide_kernel<<<G, decide_threads, values, stream.handle>>>(group, view_, choice, t, ahead);
    check(cudaGetLastError(), "mixture: decide");
    learn_kernel<<<dim3(sets, G), threads, of_learning, stream.handle>>>(group, view_, t, ahead);
    check(cudaGetLastError(), "mixture: learn");
    end_kernel<<<G, threads, of_change, stream.handle>>>(group, view_, t);
    check(cudaGetLastError(), "mixture: end of a round");
    stream.wait();  // for any_trains_, which lies on the host
    ++t;
  }
  return t;
}

void GpuMixture::find_noise(const GroupView& group, cudaStream_t stream) {
  if (!view_.networks.settings.config.train_noise) return;
  noise_kernel<<<static_cast<unsigned>(group.realizations * group.particles), 32, 0, stream>>>(group, view_,
                                                                                               noise_variances_.data());
  check(cudaGetLastError(), "mixture: noise");
}

void GpuMixture::use_noise(const GroupView& group, cudaStream_t stream) {
  if (!view_.networks.settings.config.train_noise) return;
  training_noise_kernel<<<blocks_for(noise_precisions_.size(), threads), threads, 0, stream>>>(
      group, noise_variances_.data(), noise_precisions_.data());
  check(cudaGetLastError(), "mixture: noise in units");
}

void GpuMixture::fit(const GroupView& group, cudaStream_t stream) { fit_regressions(group, view_, stream); }

}  // namespace pits::cuda
