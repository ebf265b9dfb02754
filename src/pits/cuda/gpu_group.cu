#include "pits/cuda/gpu_group.cuh"

#include <algorithm>

#include "pits/cuda/score/contexts.cuh"
#include "pits/cuda/score/score_narrow.cuh"

namespace pits::cuda {
namespace {

bool narrow(const Settings& s) { return is_narrow(s.network, s.context_stride()); }
bool in_halves(const Settings& s) { return narrow(s) && s.precision == GpuPrecision::tf32; }
bool few(const Settings& s) { return s.particles <= few_particles; }

// Whether training goes through cuBLAS, with the networks and with the cloud.
bool wide(const Settings& s) { return s.trains() && !narrow(s); }
bool many(const Settings& s) { return s.trains() && !few(s); }

// What is known of the rewards' scale is needed by exact last layers too.
bool has_units(const Settings& s) { return s.units != UnitsKind::raw || s.last_layer.exact(); }

bool has_first(const Settings& s) { return s.optimizer.rule == Rule::adam; }
bool has_second(const Settings& s) { return s.optimizer.rule != Rule::sgd && s.optimizer.rule != Rule::sign; }

int most_observations(const Settings& s, std::size_t rounds) {
  if (s.batch > 0) return s.batch;
  return static_cast<int>(s.capacity > 0 ? std::min<std::size_t>(rounds, static_cast<std::size_t>(s.capacity))
                                         : rounds);
}

// Floats or words of every array that grows with the group.
struct Counts {
  std::size_t rounds, contexts, half_contexts, scales, rewards, cloud, partial, weights;
};

Counts counts(const Settings& s, std::size_t G, std::size_t T) {
  const auto M = static_cast<std::size_t>(s.particles);
  const bool pairs = has_pairs(s.flow) && few(s);
  const auto slices = static_cast<std::size_t>(few_slices(s.particles, s.network.stride));
  const auto columns = static_cast<std::size_t>(s.context_stride());
  const std::size_t contexts = s.context_floats(G, T);
  return {.rounds = G * T,
          .contexts = contexts,
          .half_contexts = in_halves(s) ? contexts : 0,
          .scales = in_halves(s) ? G * columns : 0,
          .rewards = G * T * static_cast<std::size_t>(s.actions),
          .cloud = G * M * static_cast<std::size_t>(s.network.stride),
          .partial = pairs ? G * slices * 2 * M * M : 0,
          .weights = pairs ? G * static_cast<std::size_t>(weight_floats(s.particles, round_up(s.particles, 4))) : 0};
}

template <class T>
void fill(DeviceArray<T>& array, T value) {
  const std::vector<T> host(array.size(), value);
  array.write(host.data(), host.size());
}

}  // namespace

std::size_t GpuGroup::bytes(const Settings& s, std::size_t G, std::size_t T) {
  const Counts c = counts(s, G, T);
  const std::size_t clouds = 2 + (has_transport(s.flow) ? 1 : 0) + (has_first(s) ? 1 : 0) + (has_second(s) ? 1 : 0);
  std::size_t total = G * sizeof(TrainingState) +
                      4 * (2 * c.rounds + c.contexts + c.rewards + clouds * c.cloud + c.partial + c.weights + 3 * G);
  total += 2 * c.half_contexts + 4 * c.scales;
  total += s.steps.size() * sizeof(StepFactors<float>) + s.parameters.size() * sizeof(ParameterLayout);
  if (has_units(s)) total += GpuUnits::bytes(s, G, T);
  if (s.has_exact_layers()) total += GpuLastLayers::bytes(s, G, T);
  if (s.is_mixture()) total += GpuMixture::bytes(s, G, T);
  if (wide(s)) total += WideScore::bytes(s, static_cast<int>(G), most_observations(s, T));
  if (many(s)) total += ManyFlow::bytes(s);
  return total;
}

GpuGroup::GpuGroup(const Settings& settings, std::span<const std::uint32_t> realizations, std::size_t rounds)
    : settings_(settings),
      realizations_(static_cast<int>(realizations.size())),
      rounds_(static_cast<int>(rounds)),
      realization_(std::vector<std::uint32_t>(realizations.begin(), realizations.end())),
      diverged_(realizations.size()),
      training_(realizations.size()),
      steps_(settings.steps),
      arrived_(realizations.size()) {
  const Settings& s = settings_;
  const Counts c = counts(s, realizations.size(), rounds);
  contexts_ = DeviceArray<float>(c.contexts);
  half_contexts_ = DeviceArray<__half>(c.half_contexts);
  context_scale_ = DeviceArray<float>(c.scales);
  rewards_ = DeviceArray<float>(c.rewards);
  rewards_received_ = DeviceArray<float>(c.rounds);
  actions_taken_ = DeviceArray<std::int32_t>(c.rounds);
  theta_ = DeviceArray<float>(c.cloud);
  score_ = DeviceArray<float>(c.cloud);
  if (has_transport(s.flow)) previous_ = DeviceArray<float>(c.cloud);
  if (has_first(s)) first_ = DeviceArray<float>(c.cloud);
  if (has_second(s)) second_ = DeviceArray<float>(c.cloud);
  partial_ = DeviceArray<float>(c.partial);
  weights_ = DeviceArray<float>(c.weights);
  contexts_.fill_zero();
  half_contexts_.fill_zero();
  diverged_.fill_zero();
  training_.fill_zero();
  arrived_.fill_zero();
  rewards_received_.fill_zero();
  actions_taken_.fill_zero();
  theta_.fill_zero();
  score_.fill_zero();
  first_.fill_zero();
  second_.fill_zero();
  weights_.fill_zero();
  if (s.optimizer.rule == Rule::rmsprop && s.optimizer.first_square != 0.0) {
    fill(second_, static_cast<float>(s.optimizer.first_square));
  }
  if (has_units(s)) units_.emplace(s, realizations_, rounds_);
  if (s.has_exact_layers()) last_layers_.emplace(s, realizations_, rounds_);
  if (s.is_mixture()) mixture_.emplace(s, realizations_, rounds_, training_.data());
  if (wide(s)) wide_.emplace(s, realizations_, most_observations(s, rounds));
  if (many(s)) many_.emplace(s);
  if (wide(s) || many(s)) blas_.emplace(s.precision);
  group_ = group_view();
  flow_ = flow_view();
}

GroupView GpuGroup::group_view() const {
  const Settings& s = settings_;
  return {.network = s.network,
          .realizations = realizations_,
          .particles = s.particles,
          .rounds = rounds_,
          .context_size = s.context_size,
          .context_stride = s.context_stride(),
          .actions = s.actions,
          .batch = s.batch,
          .capacity = s.capacity,
          .likelihood = s.likelihood,
          .noise_precision = s.noise_precision,
          .noise_centre = s.noise_centre,
          .noise_prior = s.noise_prior,
          .noise_precisions = !s.last_layer.config.train_noise ? nullptr
                              : mixture_                       ? mixture_->noise_precisions()
                                                               : last_layers_->noise_precisions(),
          .seed = s.seed,
          .realization = realization_.data(),
          .contexts = s.units != UnitsKind::raw ? units_->contexts().data() : contexts_.data(),
          .half_contexts = half_contexts_.data(),
          .context_scale = context_scale_.data(),
          .rewards = rewards_.data(),
          .reward_units = units_ ? units_->reward_units() : nullptr,
          .actions_taken = actions_taken_.data(),
          .rewards_received = rewards_received_.data(),
          .theta = theta_.data(),
          .score = score_.data(),
          .training = training_.data()};
}

FlowState GpuGroup::flow_view() const {
  return {.flow = settings_.flow,
          .rule = settings_.optimizer.rule,
          .steps = steps_.data(),
          .previous = previous_.data(),
          .first = first_.data(),
          .second = second_.data(),
          .slices = few_slices(settings_.particles, settings_.network.stride),
          .partial = partial_.data(),
          .arrived = arrived_.data(),
          .weights = weights_.data(),
          .row = round_up(settings_.particles, 4),
          .diverged = diverged_.data()};
}

int GpuGroup::batch_after(std::size_t seen) const { return most_observations(settings_, seen); }

void GpuGroup::use_blas(cudaStream_t stream) {
  if (blas_) blas_->use(stream);
}

void GpuGroup::take_contexts(cudaStream_t stream) {
  if (units_) units_->start(group_, contexts_.data(), stream);
  if (half_contexts_.size() == 0 || settings_.units != UnitsKind::raw) return;
  scale_contexts(group_, rounds_, half_contexts_.data(), context_scale_.data(), stream);
}

void GpuGroup::refresh(std::size_t upto, cudaStream_t stream) {
  if (units_) units_->refresh(group_, contexts_.data(), static_cast<int>(upto), stream);
  if (half_contexts_.size() == 0 || settings_.units == UnitsKind::raw) return;
  scale_contexts(group_, 0, half_contexts_.data(), context_scale_.data(), stream);
}

void GpuGroup::start_transport() {
  if (previous_.size() == 0) return;
  check(cudaMemcpy(previous_.data(), theta_.data(), theta_.size() * sizeof(float), cudaMemcpyDeviceToDevice),
        "cudaMemcpy");
}

void GpuGroup::train_step(int step, int batch, cudaStream_t main, cudaStream_t beside, cudaEvent_t fork,
                          cudaEvent_t join) {
  const bool apart = !many_ && has_pairs(settings_.flow);
  if (apart) {
    check(cudaEventRecord(fork, main), "cudaEventRecord");
    check(cudaStreamWaitEvent(beside, fork), "cudaStreamWaitEvent");
    const bool by_products = settings_.precision == GpuPrecision::tf32 && settings_.particles <= particles_by_products;
    (by_products ? few_weights_by_products : few_weights)(group_, flow_, beside);
    check(cudaEventRecord(join, beside), "cudaEventRecord");
  }
  if (wide_) {
    wide_->score(group_, batch, step, *blas_, main);
  } else {
    score_narrow(group_, settings_.precision, step, main);
  }
  if (apart) check(cudaStreamWaitEvent(main, join), "cudaStreamWaitEvent");
  if (many_) {
    many_->step(group_, flow_, step, *blas_, main);
  } else {
    few_step(group_, flow_, step, main);
  }
}

}  // namespace pits::cuda
