#include "pits/cuda/lockstep.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "pits/cuda/device/stream.cuh"
#include "pits/cuda/gpu_group.cuh"
#include "pits/cuda/rounds.cuh"

namespace pits::cuda {
namespace {

constexpr int most_steps_of_a_graph = 100;

__global__ void begin_training(TrainingState* state, TrainingState now) { *state = now; }

__global__ void gather_rewards(GroupView group) {
  const std::size_t round = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (round >= static_cast<std::size_t>(group.realizations) * group.rounds) return;
  take_reward(group, static_cast<int>(round / group.rounds), round, group.actions_taken[round]);
}

// `steps` training steps with minibatches of `batch`, captured once.
struct Recording {
  int steps, batch;
  bool operator<(const Recording& o) const { return steps != o.steps ? steps < o.steps : batch < o.batch; }
};

}  // namespace

struct Lockstep::State {
  GpuGroup group;
  GpuStream main, beside;
  std::map<Recording, cudaGraphExec_t> graphs;
  std::size_t next_round = 0, next_training = 0;
  std::atomic<bool> contexts_changed = false;
  std::uint32_t steps_done = 0;

  State(const Settings& settings, std::span<const std::uint32_t> realizations, std::size_t rounds)
      : group(settings, realizations, rounds) {
    const DeviceArray<ParameterLayout> parameters(settings.parameters);
    draw_particles(group.view(), parameters.data(), static_cast<std::int64_t>(settings.parameters.size()),
                   settings.draws_per_particle, settings.uniform_init, main.handle);
    main.wait();
    group.start_transport();
    if (group.last_layers() != nullptr) group.last_layers()->start(group.view(), main.handle);
    wait_for_gpu();
  }
  ~State() {
    for (const auto& [recording, graph] : graphs) cudaGraphExecDestroy(graph);
  }

  cudaGraphExec_t graph(const Recording& recording) {
    const auto found = graphs.find(recording);
    if (found != graphs.end()) return found->second;
    if (graphs.size() > 4) {  // minibatches that grow with the rounds: the old ones do not come back
      for (const auto& [old, exec] : graphs) cudaGraphExecDestroy(exec);
      graphs.clear();
    }
    const GpuEvent fork, join;
    group.use_blas(main.handle);
    check(cudaStreamBeginCapture(main.handle, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    cudaGraph_t captured = nullptr;
    try {
      for (int i = 0; i < recording.steps; ++i) {
        group.train_step(i, recording.batch, main.handle, beside.handle, fork.handle, join.handle);
      }
    } catch (...) {
      cudaStreamEndCapture(main.handle, &captured);
      cudaGraphDestroy(captured);
      throw;
    }
    check(cudaStreamEndCapture(main.handle, &captured), "cudaStreamEndCapture");
    cudaGraphExec_t exec = nullptr;
    const cudaError_t made = cudaGraphInstantiate(&exec, captured, 0);
    cudaGraphDestroy(captured);
    check(made, "cudaGraphInstantiate");
    return graphs[recording] = exec;
  }

  // The round up to which decisions are made before the next training, or before the one `later` trainings after it.
  std::size_t upto(std::size_t later = 0) const {
    const std::vector<std::uint32_t>& trainings = group.settings().trainings;
    const auto T = static_cast<std::size_t>(group.view().rounds), number = next_training + later;
    return number < trainings.size() ? std::min<std::size_t>(T, trainings[number]) : T;
  }

  // Contexts that came with set_rounds() are on the GPU for all streams.
  void refresh(std::size_t seen, std::size_t until) {
    const bool changed = contexts_changed.exchange(false);
    if (changed) wait_for_gpu();
    if (changed || group.units() != nullptr) group.refresh(seen, until, main.handle);
  }

  void fit(std::size_t seen) {
    if (group.last_layers() != nullptr) group.last_layers()->fit(group.view(), static_cast<int>(seen), main.handle);
  }

  // The rewards of all rounds, whose actions are known.
  void gather_all_rewards() {
    const std::size_t rounds = static_cast<std::size_t>(group.view().realizations) * group.view().rounds;
    gather_rewards<<<blocks_for(rounds, 128), 128, 0, main.handle>>>(group.view());
    check(cudaGetLastError(), "gather_rewards");
  }

  void play(std::size_t first, std::size_t last, bool training_follows) {
    const Settings& s = group.settings();
    const DecisionSettings choice{s.initial_pulls, s.floor, s.floor_decay};
    const auto from = static_cast<int>(first), to = static_cast<int>(last);
    if (group.last_layers() != nullptr) {
      group.last_layers()->play(group.view(), choice, from, to, training_follows, main.handle);
    } else {
      play_rounds(group.view(), choice, from, to, main.handle);
    }
  }

  void move(int steps, std::size_t seen) {
    if (!group.settings().trains()) return;
    const int batch = group.batch_after(seen);
    while (steps > 0) {
      const int now = std::min(steps, most_steps_of_a_graph);
      const cudaGraphExec_t exec = graph({now, batch});
      begin_training<<<1, 1, 0, main.handle>>>(group.training().data(), {steps_done, static_cast<std::uint32_t>(seen)});
      check(cudaGetLastError(), "begin_training");
      check(cudaGraphLaunch(exec, main.handle), "cudaGraphLaunch");
      steps_done += static_cast<std::uint32_t>(now);
      steps -= now;
    }
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
  const std::size_t T = view.rounds, d = view.context_size, stride = view.context_stride;
  std::vector<float> rows(T * stride);
  for (std::size_t t = 0; t < T; ++t) {
    std::copy_n(contexts.data() + t * d, d, rows.data() + t * stride);
    rows[t * stride + d] = 1.0F;
  }
  state_->group.contexts().write(rows.data(), rows.size(), g * rows.size());
  state_->group.rewards().write(rewards.data(), rewards.size(), g * rewards.size());
  state_->contexts_changed = true;
}

std::size_t Lockstep::advance() {
  State& c = *state_;
  const Settings& s = c.group.settings();
  const std::size_t first = c.next_round, last = c.upto();
  if (first == last) return 0;
  if (c.contexts_changed) c.refresh(first, last);
  const bool trains = c.next_training < s.trainings.size() && s.trainings[c.next_training] == last;
  c.play(first, last, trains);
  if (trains) {
    GpuLastLayers* layers = c.group.last_layers();
    if (layers != nullptr) layers->find_noise(c.group.view(), c.main.handle);
    c.refresh(last, c.upto(1));
    if (layers != nullptr) layers->use_noise(c.group.view(), c.main.handle);
    c.move(s.train_steps, last);
    c.fit(last);
    ++c.next_training;
  }
  c.main.wait();
  c.next_round = last;
  return last - first;
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
  state_->refresh(seen, static_cast<std::size_t>(state_->group.view().rounds));
  state_->move(steps, seen);
  state_->main.wait();
}

void Lockstep::fit(std::size_t seen) {
  state_->refresh(seen, static_cast<std::size_t>(state_->group.view().rounds));
  state_->fit(seen);
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

std::vector<std::int32_t> Lockstep::singular() const {
  const GpuLastLayers* layers = state_->group.last_layers();
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
  state_->refresh(seen, static_cast<std::size_t>(state_->group.view().rounds));
  return timed([&] { state_->move(steps, seen); });
}

double Lockstep::time_fit(std::size_t seen) {
  return timed([&] {
    state_->refresh(seen, static_cast<std::size_t>(state_->group.view().rounds));
    state_->fit(seen);
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
