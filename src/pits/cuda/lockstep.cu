#include "pits/cuda/lockstep.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "pits/cuda/card_group.cuh"
#include "pits/cuda/rounds.cuh"
#include "pits/cuda/stream.cuh"

namespace pits::cuda {
namespace {

constexpr int most_steps_of_a_graph = 100;

__global__ void begin_training(TrainingState* state, TrainingState now) { *state = now; }

__global__ void look_up(Group group) {
  const std::size_t round = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (round >= static_cast<std::size_t>(group.realizations) * group.rounds) return;
  take_reward(group, static_cast<int>(round / group.rounds), round, group.played[round]);
}

// `steps` training steps with minibatches of `batch`, captured once.
struct Recording {
  int steps, batch;
  bool operator<(const Recording& o) const { return steps != o.steps ? steps < o.steps : batch < o.batch; }
};

}  // namespace

struct Lockstep::Card {
  CardGroup group;
  CardStream main, beside;
  std::map<Recording, cudaGraphExec_t> graphs;
  std::size_t next_round = 0, next_training = 0;
  std::atomic<bool> contexts_changed = false;
  std::uint32_t steps_done = 0;

  Card(const Settings& settings, std::span<const std::uint32_t> realizations, std::size_t rounds)
      : group(settings, realizations, rounds) {
    const DeviceArray<CardParameter> parameters(settings.parameters);
    draw_particles(group.view(), parameters.data(), static_cast<std::int64_t>(settings.parameters.size()),
                   settings.draws_per_particle, settings.uniform_init, main.handle);
    main.wait();
    group.start_transport();
    if (group.last_layers() != nullptr) group.last_layers()->start(group.view(), main.handle);
    wait_for_card();
  }
  ~Card() {
    for (const auto& [recording, graph] : graphs) cudaGraphExecDestroy(graph);
  }

  cudaGraphExec_t graph(const Recording& recording) {
    const auto found = graphs.find(recording);
    if (found != graphs.end()) return found->second;
    if (graphs.size() > 4) {  // minibatches that grow with the rounds: the old ones do not come back
      for (const auto& [old, exec] : graphs) cudaGraphExecDestroy(exec);
      graphs.clear();
    }
    const CardEvent fork, join;
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

  // Contexts that came with set_rounds() are on the card for all streams.
  void settle(std::size_t seen, std::size_t until) {
    const bool changed = contexts_changed.exchange(false);
    if (changed) wait_for_card();
    if (changed || group.units() != nullptr) group.settle(seen, until, main.handle);
  }

  void fit(std::size_t seen) {
    if (group.last_layers() != nullptr) group.last_layers()->fit(group.view(), static_cast<int>(seen), main.handle);
  }

  // The rewards of all rounds, whose actions are known.
  void look_up_all() {
    const std::size_t rounds = static_cast<std::size_t>(group.view().realizations) * group.view().rounds;
    look_up<<<blocks_for(rounds, 128), 128, 0, main.handle>>>(group.view());
    check(cudaGetLastError(), "look_up");
  }

  void play(std::size_t first, std::size_t last, bool training_follows) {
    const Settings& s = group.settings();
    const Choice choice{s.initial_pulls, s.floor, s.floor_decay};
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

  std::vector<float> in_cpu_order(const std::vector<float>& on_card) const {
    const Settings& s = group.settings();
    const std::size_t rows = static_cast<std::size_t>(group.view().realizations) * s.particles;
    std::vector<float> out(rows * s.parameters.size());
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t l = 0; l < s.parameters.size(); ++l) {
        out[i * s.parameters.size() + l] = on_card[i * s.network.stride + s.parameters[l].at];
      }
    }
    return out;
  }
};

std::size_t lockstep_bytes(const Settings& settings, std::size_t realizations, std::size_t rounds) {
  return CardGroup::bytes(settings, realizations, rounds);
}

Lockstep::Lockstep(const Settings& settings, std::span<const std::uint32_t> realizations, std::size_t rounds)
    : card_(std::make_unique<Card>(settings, realizations, rounds)) {}
Lockstep::~Lockstep() = default;

void Lockstep::set_rounds(std::size_t g, std::span<const float> contexts, std::span<const float> rewards) {
  const Group& view = card_->group.view();
  const std::size_t T = view.rounds, d = view.context_size, stride = view.context_stride;
  std::vector<float> rows(T * stride);
  for (std::size_t t = 0; t < T; ++t) {
    std::copy_n(contexts.data() + t * d, d, rows.data() + t * stride);
    rows[t * stride + d] = 1.0F;
  }
  card_->group.contexts().write(rows.data(), rows.size(), g * rows.size());
  card_->group.rewards().write(rewards.data(), rewards.size(), g * rewards.size());
  card_->contexts_changed = true;
}

std::size_t Lockstep::advance() {
  Card& c = *card_;
  const Settings& s = c.group.settings();
  const std::size_t first = c.next_round, last = c.upto();
  if (first == last) return 0;
  if (c.contexts_changed) c.settle(first, last);
  const bool trains = c.next_training < s.trainings.size() && s.trainings[c.next_training] == last;
  c.play(first, last, trains);
  if (trains) {
    CardLastLayers* layers = c.group.last_layers();
    if (layers != nullptr) layers->find_noise(c.group.view(), c.main.handle);
    c.settle(last, c.upto(1));
    if (layers != nullptr) layers->use_noise(c.group.view(), c.main.handle);
    c.move(s.train_steps, last);
    c.fit(last);
    ++c.next_training;
  }
  c.main.wait();
  c.next_round = last;
  return last - first;
}

std::vector<std::int32_t> Lockstep::diverged() const { return card_->group.diverged().to_host(); }
std::vector<std::int32_t> Lockstep::actions() const { return card_->group.played().to_host(); }
std::vector<float> Lockstep::particles() const { return card_->in_cpu_order(card_->group.theta().to_host()); }
std::vector<float> Lockstep::scores() const { return card_->in_cpu_order(card_->group.score().to_host()); }

void Lockstep::set_particles(std::span<const float> theta) {
  const Settings& s = card_->group.settings();
  std::vector<float> on_card(card_->group.theta().size());
  const std::size_t P = s.parameters.size();
  for (std::size_t i = 0; i < theta.size(); ++i) {
    on_card[i / P * s.network.stride + s.parameters[i % P].at] = theta[i];
  }
  card_->group.theta().write(on_card.data(), on_card.size());
  card_->group.start_transport();
  wait_for_card();
}

void Lockstep::set_history(std::span<const std::int32_t> actions) {
  card_->group.played().write(actions.data(), actions.size());
  card_->look_up_all();
  card_->main.wait();
}

void Lockstep::train(int steps, std::size_t seen) {
  card_->settle(seen, static_cast<std::size_t>(card_->group.view().rounds));
  card_->move(steps, seen);
  card_->main.wait();
}

void Lockstep::fit(std::size_t seen) {
  card_->settle(seen, static_cast<std::size_t>(card_->group.view().rounds));
  card_->fit(seen);
  card_->main.wait();
}

void Lockstep::observe(std::size_t first, std::size_t last) {
  card_->look_up_all();  // in the units that have settled since
  card_->group.last_layers()->observe(card_->group.view(), static_cast<int>(first), static_cast<int>(last),
                                      card_->main.handle);
  card_->main.wait();
}

UnitNumbers Lockstep::units() const {
  const Group& view = card_->group.view();
  UnitNumbers n{.rewards = card_->group.units()->settled_rewards(), .gained = card_->group.gained().to_host()};
  const std::vector<float> rows = card_->group.units()->contexts().to_host();
  const std::size_t count = static_cast<std::size_t>(view.realizations) * view.rounds;
  for (std::size_t r = 0; !rows.empty() && r < count; ++r) {
    const auto row = rows.begin() + static_cast<std::ptrdiff_t>(r * view.context_stride);
    n.contexts.insert(n.contexts.end(), row, row + view.context_size);
  }
  return n;
}

LastLayerNumbers Lockstep::last_layers() const {
  const CardLastLayers& layers = *card_->group.last_layers();
  return {layers.means(), layers.deviations(), layers.precisions(), layers.totals()};
}

std::vector<std::int32_t> Lockstep::singular() const {
  const CardLastLayers* layers = card_->group.last_layers();
  return layers == nullptr ? std::vector<std::int32_t>{} : layers->singular();
}

template <class Work>
double Lockstep::timed(const Work& work) {
  work();  // captures
  const CardEvent before(cudaEventDefault), after(cudaEventDefault);
  check(cudaEventRecord(before.handle, card_->main.handle), "cudaEventRecord");
  work();
  check(cudaEventRecord(after.handle, card_->main.handle), "cudaEventRecord");
  card_->main.wait();
  float milliseconds = 0.0F;
  check(cudaEventElapsedTime(&milliseconds, before.handle, after.handle), "cudaEventElapsedTime");
  return 1e-3 * milliseconds;
}

double Lockstep::time_training(int steps, std::size_t seen) {
  card_->settle(seen, static_cast<std::size_t>(card_->group.view().rounds));
  return timed([&] { card_->move(steps, seen); });
}

double Lockstep::time_fit(std::size_t seen) {
  return timed([&] {
    card_->settle(seen, static_cast<std::size_t>(card_->group.view().rounds));
    card_->fit(seen);
  });
}

double Lockstep::time_rounds(std::size_t first, std::size_t last) {
  return timed([&] { card_->play(first, last, false); });
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

void wait_for_card() { check(cudaDeviceSynchronize(), "the card"); }

}  // namespace pits::cuda
