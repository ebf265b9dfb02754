#include "pits/cuda/lockstep.h"

#include <algorithm>
#include <atomic>

#include "pits/cuda/device/stream.cuh"
#include "pits/cuda/gpu_group.cuh"
#include "pits/cuda/rounds.cuh"
#include "pits/cuda/training_graphs.cuh"

namespace pits::cuda {
namespace {

__global__ void gather_rewards(GroupView group) {
  const std::size_t round = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (round >= static_cast<std::size_t>(group.realizations) * group.rounds) return;
  take_reward(group, static_cast<int>(round / group.rounds), round, group.actions_taken[round]);
}

}  // namespace

struct Lockstep::State {
  GpuGroup group;
  GpuStream main;
  TrainingGraphs graphs;
  std::size_t next_round = 0, next_training = 0;
  std::atomic<bool> contexts_changed = false;

  State(const Settings& settings, std::span<const std::uint32_t> realizations, std::size_t rounds)
      : group(settings, realizations, rounds) {
    const DeviceArray<ParameterLayout> parameters(settings.parameters);
    draw_particles(group.view(), parameters.data(), static_cast<std::int64_t>(settings.parameters.size()),
                   settings.draws_per_particle, settings.uniform_init, main.handle);
    main.wait();
    group.start_transport();
    if (group.last_layers() != nullptr) group.last_layers()->start(group.view(), main.handle);
    if (group.mixture() != nullptr) group.mixture()->start(group.view(), main.handle);
    wait_for_gpu();
  }

  // The round up to which decisions are made before the next training, or before the one `later` trainings after it.
  std::size_t upto(std::size_t later = 0) const {
    const std::vector<std::uint32_t>& trainings = group.settings().trainings;
    const auto T = static_cast<std::size_t>(group.view().rounds), number = next_training + later;
    return number < trainings.size() ? std::min<std::size_t>(T, trainings[number]) : T;
  }

  // Contexts that came with set_rounds() are on the GPU for all streams.
  void take_contexts() {
    if (!contexts_changed.exchange(false)) return;
    wait_for_gpu();
    group.take_contexts(main.handle);
  }

  // All realizations are to train on `seen` observations; units are refreshed, for rounds before `until`.
  void begin(std::size_t seen, std::size_t until) {
    take_contexts();
    begin_training(group, seen, main.handle);
    if (seen > 0) group.refresh(until, main.handle);
  }

  void fit() {
    if (group.last_layers() != nullptr) group.last_layers()->fit(group.view(), main.handle);
    if (group.mixture() != nullptr) group.mixture()->fit(group.view(), main.handle);
  }

  DecisionSettings choice() const {
    const Settings& s = group.settings();
    return {s.initial_pulls, s.floor, s.floor_decay, s.cold_start};
  }

  // The rewards of all rounds, whose actions are known.
  void gather_all_rewards() {
    const std::size_t rounds = static_cast<std::size_t>(group.view().realizations) * group.view().rounds;
    gather_rewards<<<blocks_for(rounds, 128), 128, 0, main.handle>>>(group.view());
    check(cudaGetLastError(), "gather_rewards");
  }

  void play(std::size_t first, std::size_t last, bool training_follows) {
    const auto from = static_cast<int>(first), to = static_cast<int>(last);
    if (group.last_layers() != nullptr) {
      group.last_layers()->play(group.view(), choice(), from, to, training_follows, main.handle);
    } else {
      play_rounds(group.view(), choice(), from, to, main.handle);
    }
  }

  void move(int steps, std::size_t seen) {
    if (!group.settings().trains()) return;
    graphs.run(steps, group.batch_after(seen), group, main);
  }

  // Plays until a realization of a mixture trains, or to the end. Returns the round after.
  std::size_t advance_mixture() {
    GpuMixture& mixture = *group.mixture();
    const int T = group.view().rounds;
    take_contexts();
    const int last = mixture.play(group.view(), choice(), static_cast<int>(next_round), T, main);
    if (mixture.trains()) {
      mixture.find_noise(group.view(), main.handle);
      group.refresh(static_cast<std::size_t>(T), main.handle);
      mixture.use_noise(group.view(), main.handle);
      move(group.settings().train_steps, static_cast<std::size_t>(last));
      fit();
    }
    return static_cast<std::size_t>(last);
  }

  // Plays until all realizations train, or to the end. Returns the round after.
  std::size_t advance_together() {
    const Settings& s = group.settings();
    const std::size_t last = upto();
    take_contexts();
    const bool trains = next_training < s.trainings.size() && s.trainings[next_training] == last;
    play(next_round, last, trains);
    if (!trains) return last;
    GpuLastLayers* layers = group.last_layers();
    if (layers != nullptr) layers->find_noise(group.view(), main.handle);
    begin(last, upto(1));
    if (layers != nullptr) layers->use_noise(group.view(), main.handle);
    move(s.train_steps, last);
    fit();
    ++next_training;
    return last;
  }

  std::vector<float> in_cpu_order(const std::vector<float>& on_gpu) const {
    const Settings& s = group.settings();
    const std::size_t rows = static_cast<std::size_t>(group.view().realizations) * s.particles;
    std::vector<float> out(rows * s.parameters.size());
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t l = 0; l < s.parameters.size(); ++l) {
        out[i * s.parameters.size() + l] = on_gpu[i * s.network.stride + s.parameters[l].at];
      }
    }
    return out;
  }
};

std::size_t lockstep_bytes(const Settings& settings, std::size_t realizations, std::size_t rounds) {
  return GpuGroup::bytes(settings, realizations, rounds);
}

Lockstep::Lockstep(const Settings& settings, std::span<const std::uint32_t> realizations, std::size_t rounds)
    : state_(std::make_unique<State>(settings, realizations, rounds)) {}
Lockstep::~Lockstep() = default;

void Lockstep::set_rounds(std::size_t g, std::span<const float> contexts, std::span<const float> rewards) {
  const GroupView& view = state_->group.view();
  const std::size_t T = view.rounds, d = static_cast<std::size_t>(state_->group.settings().raw_context_size),
                    stride = view.context_stride;
  std::vector<float> rows(T * stride);
  for (std::size_t t = 0; t < T; ++t) {
    std::copy_n(contexts.data() + t * d, d, rows.data() + t * stride);
    rows[t * stride + static_cast<std::size_t>(view.context_size)] = 1.0F;
  }
  state_->group.contexts().write(rows.data(), rows.size(), g * rows.size());
  state_->group.rewards().write(rewards.data(), rewards.size(), g * rewards.size());
  state_->contexts_changed = true;
}

std::size_t Lockstep::advance() {
  State& c = *state_;
  const std::size_t first = c.next_round;
  if (first == static_cast<std::size_t>(c.group.view().rounds)) return 0;
  c.next_round = c.group.mixture() != nullptr ? c.advance_mixture() : c.advance_together();
  c.main.wait();
  return c.next_round - first;
}

std::vector<std::int32_t> Lockstep::diverged() const { return state_->group.diverged().to_host(); }
std::vector<std::int32_t> Lockstep::actions() const { return state_->group.actions_taken().to_host(); }
std::vector<float> Lockstep::particles() const { return state_->in_cpu_order(state_->group.theta().to_host()); }
std::vector<float> Lockstep::scores() const { return state_->in_cpu_order(state_->group.score().to_host()); }

void Lockstep::set_particles(std::span<const float> theta) {
  const Settings& s = state_->group.settings();
  std::vector<float> on_gpu(state_->group.theta().size());
  const std::size_t P = s.parameters.size();
  for (std::size_t i = 0; i < theta.size(); ++i) {
    on_gpu[i / P * s.network.stride + s.parameters[i % P].at] = theta[i];
  }
  state_->group.theta().write(on_gpu.data(), on_gpu.size());
  state_->group.start_transport();
  wait_for_gpu();
}

void Lockstep::set_history(std::span<const std::int32_t> actions) {
  state_->group.actions_taken().write(actions.data(), actions.size());
  state_->gather_all_rewards();
  state_->main.wait();
}

void Lockstep::train(int steps, std::size_t seen) {
  state_->begin(seen, static_cast<std::size_t>(state_->group.view().rounds));
  state_->move(steps, seen);
  state_->main.wait();
}

void Lockstep::fit(std::size_t seen) {
  state_->begin(seen, static_cast<std::size_t>(state_->group.view().rounds));
  state_->fit();
  state_->main.wait();
}

void Lockstep::observe(std::size_t first, std::size_t last) {
  state_->gather_all_rewards();  // in the units that were refreshed since
  state_->group.last_layers()->observe(state_->group.view(), static_cast<int>(first), static_cast<int>(last),
                                       state_->main.handle);
  state_->main.wait();
}

UnitNumbers Lockstep::units() const {
  const GroupView& view = state_->group.view();
  UnitNumbers n{.rewards = state_->group.units()->reward_units_on_host(),
                .rewards_received = state_->group.rewards_received().to_host()};
  const std::vector<float> rows = state_->group.units()->contexts().to_host();
  const std::size_t count = static_cast<std::size_t>(view.realizations) * view.rounds;
  for (std::size_t r = 0; !rows.empty() && r < count; ++r) {
    const auto row = rows.begin() + static_cast<std::ptrdiff_t>(r * view.context_stride);
    n.contexts.insert(n.contexts.end(), row, row + view.context_size);
  }
  return n;
}

LastLayerNumbers Lockstep::last_layers() const {
  const GpuLastLayers& layers = *state_->group.last_layers();
  return {layers.means(), layers.deviations(), layers.precisions(), layers.totals()};
}

MixtureNumbers Lockstep::mixture() const {
  const GpuMixture& mixture = *state_->group.mixture();
  MixtureNumbers n{.mean = mixture.means()};
  for (const MixtureState& s : mixture.states()) n.linear_weight.push_back(s.linear_weight);
  for (const TrainingState& t : state_->group.training().to_host()) {
    n.trainings.push_back(t.trainings);
    n.forgotten.push_back(t.forgotten);
  }
  return n;
}

std::vector<std::int32_t> Lockstep::singular() const {
  const GpuLastLayers* layers = state_->group.last_layers();
  if (state_->group.mixture() != nullptr) return state_->group.mixture()->singular();
  return layers == nullptr ? std::vector<std::int32_t>{} : layers->singular();
}

template <class Work>
double Lockstep::timed(const Work& work) {
  work();  // captures
  const GpuEvent before(cudaEventDefault), after(cudaEventDefault);
  check(cudaEventRecord(before.handle, state_->main.handle), "cudaEventRecord");
  work();
  check(cudaEventRecord(after.handle, state_->main.handle), "cudaEventRecord");
  state_->main.wait();
  float milliseconds = 0.0F;
  check(cudaEventElapsedTime(&milliseconds, before.handle, after.handle), "cudaEventElapsedTime");
  return 1e-3 * milliseconds;
}

double Lockstep::time_training(int steps, std::size_t seen) {
  state_->begin(seen, static_cast<std::size_t>(state_->group.view().rounds));
  return timed([&] { state_->move(steps, seen); });
}

double Lockstep::time_fit(std::size_t seen) {
  return timed([&] {
    state_->begin(seen, static_cast<std::size_t>(state_->group.view().rounds));
    state_->fit();
  });
}

double Lockstep::time_rounds(std::size_t first, std::size_t last) {
  return timed([&] { state_->play(first, last, false); });
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

void wait_for_gpu() { check(cudaDeviceSynchronize(), "the GPU"); }

}  // namespace pits::cuda
