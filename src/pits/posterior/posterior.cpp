#include "pits/posterior/posterior.h"

#include <algorithm>
#include <cmath>

#include "pits/posterior/prepared_values.h"

namespace pits {
namespace {

MarkCounts mark_counts(const PosteriorConfig& c) {
  const auto M = static_cast<std::size_t>(c.particles);
  return {.weights = c.perturbation.weights == BootstrapWeights::none ? 0 : M,
          .offsets = c.perturbation.rewards ? M : 0};
}

}  // namespace

bool usable_parameters(std::span<const float> theta) {
  return std::ranges::all_of(theta, [](float x) { return std::abs(x) <= static_cast<float>(largest_parameter); });
}

void check_saved_parameters(std::span<const float> theta) {
  if (!usable_parameters(theta)) throw bad_input("the saved parameters are not finite");
}

Posterior::Posterior(const PosteriorConfig& config, std::size_t context_size, std::size_t actions,
                     const Address& address)
    : config_(checked(config)),
      standardiser_(config.units, context_size),
      model_(config.model, standardiser_.size(), actions),
      history_(context_size, actions, config.memory, mark_counts(config)),
      address_(address),
      mover_(config.flow, config.optimizer, address_),
      theta_(static_cast<std::size_t>(config.particles), model_.parameters()) {
  address_.purpose = Purpose::initial_particles;
  Stream stream(address_);
  model_.initialise(stream, theta_);
  check_settings(config_, model_);
  if (config_.perturbation.anchors) anchors_ = theta_;
  weights_.resize(mark_counts(config_).weights);
  offsets_.resize(mark_counts(config_).offsets);
  if (config_.last_layer.kind == LastLayerKind::exact) last_layers_.emplace(config_.last_layer, *this, address);
  if (config_.last_layer.kind == LastLayerKind::mixture) mixture_.emplace(config_.last_layer, *this, address);
  if (config_.memory.adaptive) forgetting_.emplace(standardiser_.size(), actions, address);
}

bool Posterior::learn(const Observation& observation, bool may_train, const std::function<void()>& stored) {
  observe(observation);
  if (stored) stored();
  const double error = mixture_ ? mixture_->observe(*this, observation) : 0.0;
  const std::uint64_t t = history_.seen() - history_.forgotten(), last = trained_at_ - history_.forgotten();
  const bool changed = forget(observation, error);
  const bool trains = may_train && (changed || config_.training.due(t, last, config_.memory));
  if (trains) {
    train();
  } else if (last_layers_) {
    last_layers_->observe(*this, observation);
  }
  return trains;
}

// Units that were forgotten need a training. (The differences hold where more was forgotten than was trained with.)
bool Posterior::training_due() const {
  if (history_.size() == 0) return false;
  const bool changed = forgetting_ && trained_at_ > 0 && units_at_ == 0;
  const std::uint64_t t = history_.seen() - history_.forgotten(), last = trained_at_ - history_.forgotten();
  return changed || config_.training.due(t, last, config_.memory);
}

// True if the world has changed, and what is older was forgotten. The units are then those of the rest.
bool Posterior::forget(const Observation& observation, double error) {
  if (!forgetting_ || trained_at_ == 0) return false;
  const double noise = mixture_->regressions(0).noise_variance();  // adaptive=true needs a mixture
  const auto kept = forgetting_->observe(standardiser_.context(observation.context), observation.action, error, noise,
                                         history_.seen());
  if (!kept || *kept >= history_.size()) return false;
  history_.keep_last(*kept);
  units_at_ = 0;
  return true;
}

void Posterior::observe(const Observation& observation) {
  const float r = observation.reward;
  if (model_.bernoulli() && !(r >= 0.0F && r <= 1.0F)) {
    throw bad_input("a Bernoulli model needs rewards in 0..1, not {}; use model=linear or model=mlp", r);
  }
  draw_marks();
  Observation marked = observation;
  marked.weights = weights_;
  marked.offsets = offsets_;
  history_.add(marked);
  standardiser_.observe(observation.context, observation.reward);
}

void Posterior::draw_marks() {
  if (weights_.empty() && offsets_.empty()) return;
  address_.purpose = Purpose::observation_marks;
  address_.step = static_cast<std::uint32_t>(history_.seen());
  Stream stream(address_);
  const bool kept = config_.perturbation.weights == BootstrapWeights::kept;
  for (float& w : weights_) {
    const double u = stream.uniform();
    w = kept ? (u < config_.perturbation.keep ? 1.0F : 0.0F) : static_cast<float>(-std::log(u));
  }
  stream.fill_normal(offsets_, static_cast<float>(config_.model.noise_sd));
}

// Particle i's own; z is x in the networks' units.
void Posterior::own_values(std::size_t i, std::span<const float> z, std::span<float> out) const {
  thread_local Network::Workspace workspace;
  if (last_layers_) {
    last_layers_->sampled().values(model_.network(), theta_, i, z, workspace, out);
  } else {
    model_.predict(theta_.row(i), z, workspace, out);
  }
}

void Posterior::values(std::size_t i, std::span<const float> x, std::span<float> out) const {
  if (mixture_) {
    mixture_->values(*this, standardiser_.context(x), i, out);
  } else if (coupled()) {
    std::ranges::copy(all_values(x).row(i), out.begin());
  } else {
    own_values(i, standardiser_.context(x), out);
  }
}

void Posterior::mean_values(std::span<const float> x, std::span<double> out) const {
  mixture_->means(*this, standardiser_.context(x), out);
}

const Matrix<float>& Posterior::all_values(std::span<const float> x) const {
  thread_local Network::Workspace workspace;
  thread_local Matrix<float> rewards;
  if (const Matrix<float>* known = PreparedValues::find(*this, x)) return *known;
  const std::span<const float> z = standardiser_.context(x);
  rewards.reshape(theta_.rows(), model_.actions());
  if (mixture_) {
    mixture_->values(*this, z, rewards);
  } else if (coupled()) {
    last_layers_->sampled().values(model_.network(), theta_, z, workspace, rewards);
  } else {
    for (std::size_t i = 0; i < theta_.rows(); ++i) own_values(i, z, rewards.row(i));
  }
  return rewards;
}

void Posterior::sample(std::size_t i, std::span<const float> x, Stream& stream, std::span<double> out) const {
  thread_local Network::Workspace workspace;
  last_layers_->sample(model_.network(), theta_, i, standardiser_.context(x), workspace, stream, out);
}

double Posterior::noise_sd(std::size_t particle, std::size_t action) const {
  const double sd = mixture_       ? std::sqrt(mixture_->noise_variance(particle, action))
                    : last_layers_ ? std::sqrt(last_layers_->noise_variance(particle, action))
                                   : model_.noise_sd(theta_.row(particle), action);
  return standardiser_.raw_width(sd);
}

void Posterior::state(Archive& archive) {
  archive.version("Posterior", 1);
  if (archive.policy()) {
    archive(standardiser_, theta_);
  } else {
    archive(history_, standardiser_, mover_, theta_, anchors_, trained_at_);
  }
  if (archive.reading()) check_saved_parameters(theta_.flat());
  if (last_layers_) archive(*last_layers_);
  if (mixture_) archive(*mixture_, units_at_);
  if (forgetting_ && !archive.policy()) archive(*forgetting_);
}

}  // namespace pits
