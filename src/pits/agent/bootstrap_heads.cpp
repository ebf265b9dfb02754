#include "pits/agent/bootstrap_heads.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pits {
namespace {

// A field that counts for one head, for all of them.
int for_all_heads(const char* field, int value, double times) {
  constexpr double most = std::numeric_limits<int>::max();
  const double largest = std::floor(most / times);
  if (value > largest) {
    throw bad_input("{} must be at most {:.0f}, not {}: all heads together take {} times as many", field, largest,
                    value, times);
  }
  return static_cast<int>(std::min(std::ceil(value * times), most));
}

ParticleConfig with_heads(const BootstrapHeadsConfig& config) {
  ParticleConfig c = checked(config).network.network;
  c.model.heads = config.heads;
  c.batch = for_all_heads("batch", c.batch, config.heads);
  const double observations = config.heads * config.keep;  // that a round adds
  c.discount = std::pow(c.discount, 1.0 / observations);
  c.capacity = for_all_heads("capacity", c.capacity, observations);
  return c;
}

ModelConfig member_model(const BootstrapHeadsConfig& config) {
  ModelConfig c = config.network.network.model;
  c.noise = Noise::fixed;  // a member predicts; it has no noise to learn
  return c;
}

}  // namespace

Fields fields(BootstrapHeadsConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .add("heads", c.heads, "heads on the shared body", between(1, 1000))
      .add("keep", c.keep, "probability that a head keeps an observation",
           Range{.low = 0, .high = 1, .low_open = true});
}

BootstrapHeadsConfig bootstrap_heads_preset(std::string_view name) { return {.network = network_preset(name)}; }

BootstrapHeads::BootstrapHeads(const BootstrapHeadsConfig& config, const AgentSetup& setup)
    : config_(checked(config)),
      setup_(setup),
      network_(with_heads(config), setup.context_size, static_cast<std::size_t>(config.heads) * setup.actions,
               setup.seed, setup.realization),
      member_(member_model(config), setup.context_size, setup.actions),
      members_(static_cast<std::size_t>(config.heads), member_.parameters()) {
  split();
}

ParticleVote BootstrapHeads::vote() const {
  return {member_, members_, network_.units(), nullptr, 0.0, config_.network.initial_pulls, events_, setup_};
}

void BootstrapHeads::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    observe(event);
    ++events_;
    const bool due = events_ % static_cast<std::uint64_t>(config_.network.train_every) == 0;
    if (!due || network_.history().size() == 0) continue;
    network_.train(config_.network.train_steps);
    split();
  }
}

void BootstrapHeads::observe(const Feedback& event) {
  Stream stream({.seed = setup_.seed,
                 .realization = setup_.realization,
                 .purpose = Purpose::observation_marks,
                 .step = static_cast<std::uint32_t>(events_)});
  const auto K = static_cast<Action>(setup_.actions);
  for (Action h = 0; h < static_cast<Action>(config_.heads); ++h) {
    if (stream.uniform() >= config_.keep) continue;
    network_.observe({.context = event.x, .action = h * K + event.action, .reward = event.reward});
  }
}

void BootstrapHeads::add_actions(std::size_t n) {
  network_.add_actions(n);
  setup_.add_actions(n);
  member_ = RewardModel(member_model(config_), setup_.context_size, setup_.actions);
  members_.reshape(members_.rows(), member_.parameters());
  split();
}

void BootstrapHeads::state(Archive& archive) {
  archive(network_, events_);
  if (archive.reading()) split();
}

// A member is the body, then the rows of its head.
void BootstrapHeads::split() {
  const std::span<const float> theta = network_.particles().row(0);
  const Layer& all = network_.model().network().layers().back();
  const Layer& own = member_.network().layers().back();
  const std::size_t weights = own.inputs * own.outputs;
  for (std::size_t h = 0; h < members_.rows(); ++h) {
    const std::span<float> member = members_.row(h);
    std::ranges::copy(theta.first(all.weights), member.begin());
    std::ranges::copy(theta.subspan(all.weights + h * weights, weights), member.begin() + own.weights);
    std::ranges::copy(theta.subspan(all.biases + h * own.outputs, own.outputs), member.begin() + own.biases);
  }
}

}  // namespace pits
