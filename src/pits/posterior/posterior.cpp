#include "pits/posterior/posterior.h"

#include <algorithm>
#include <cmath>

#include "pits/core/parallel.h"
#include "pits/core/simd/denormals.h"
#include "pits/core/simd/kernels.h"
#include "pits/model/dropout.h"
#include "pits/posterior/prepared_values.h"

namespace pits {
namespace {

// Where several heads share a minibatch, each owns its part of it.
float likelihood_scale(const PosteriorConfig& c, double observations, std::size_t batch) {
  const auto heads = static_cast<float>(c.model.heads);
  switch (c.scale) {
    case LikelihoodScale::data: return static_cast<float>(observations) / static_cast<float>(batch);
    case LikelihoodScale::minibatch: return heads;
    case LikelihoodScale::mean: return heads / static_cast<float>(batch);
  }
  throw failed("likelihood scale {} is not in the enumeration", static_cast<int>(c.scale));
}

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

void Posterior::find_training_noise(double width, std::vector<float>& noise) const {
  noise.clear();
  if (mixture_ && trained_at_ > 0) return mixture_->training_noise(config_.model.noise_sd, width, noise);
  if (!last_layers_ || trained_at_ == 0) return;  // before the first fit they know nothing of the noise
  last_layers_->training_noise(config_.model.noise_sd, width, noise);
}

// The last layers' noise is in the units of their last fit: it is converted to the new ones before the networks move.
void Posterior::train(int steps) {
  if (history_.size() == 0) throw failed("train: no observation yet");
  const Standardiser& before = thread_copy(standardiser_);
  const double unit = standardiser_.raw_width(1.0);
  const bool grown = !mixture_ || units_are_due(mixture_->inputs(), history_.seen(), units_at_, config_.memory.capacity);
  if (grown) {
    standardiser_.refresh(history_);
    units_at_ = history_.seen();
  }
  find_training_noise(standardiser_.reward_width(unit), buffers_.noise);
  trained_at_ = history_.seen();
  try {
    move(steps);
  } catch (...) {
    standardiser_ = before;
    throw;
  }
  if (last_layers_) last_layers_->fit(*this);
  if (mixture_) mixture_->fit(*this, grown);
}

void Posterior::move(int steps) {
  const FlushDenormals flush;
  const Particles& theta = thread_copy(theta_);  // as before, if the training fails
  const Mover<float>& mover = thread_copy(mover_);
  mover_.begin_training();
  for (int i = 0; i < steps; ++i) {
    train_step();
    if (!mover_.diverged()) continue;
    const std::int64_t done = steps_done();
    theta_ = theta;
    mover_ = mover;
    throw failed("the particles diverged after {} training steps; a smaller step than {} may hold them", done,
                 config_.optimizer.step);
  }
}

void Posterior::train_step() {
  Minibatch& batch = buffers_.batch;
  batch.bf16 = config_.products == Products::bf16;
  address_.step = static_cast<std::uint32_t>(steps_done());
  address_.purpose = Purpose::minibatch;
  Stream draws(address_);
  if (config_.batch == 0) {
    history_.all(batch);
  } else {
    history_.sample(draws, static_cast<std::size_t>(config_.batch), batch);
  }
  standardiser_.apply(batch);
  batch.sparse.find(batch.contexts, batch.bf16);
  // The one place where the likelihood is scaled to the t observations.
  batch.likelihood_scale = likelihood_scale(config_, history_.weight(), batch.size());
  if (config_.keep_units < 1.0) draw_dropout();
  score_particles();
  mover_.step(theta_, buffers_.score);
}

Forces Posterior::forces() const {
  constexpr std::size_t most = 4096;
  if (history_.size() == 0) throw failed("forces: no observation yet");
  Minibatch batch;
  if (history_.size() <= most && config_.memory.discount == 1.0) {
    history_.all(batch);
  } else {
    Address address = address_;
    address.purpose = Purpose::diagnostics;
    address.step = static_cast<std::uint32_t>(steps_done());
    Stream draws(address);
    history_.sample(draws, most, batch);
  }
  standardiser_.apply(batch);
  batch.sparse.find(batch.contexts);
  const auto trained = config_.batch == 0 ? history_.size() : static_cast<std::size_t>(config_.batch);
  batch.likelihood_scale = likelihood_scale(config_, history_.weight(), trained) * static_cast<float>(trained) /
                           static_cast<float>(batch.size());
  std::vector<float> noise;
  find_training_noise(1.0, noise);
  Network::Workspace workspace;
  Matrix<float> score(theta_.rows(), theta_.cols());
  model_.score(theta_, batch, workspace, score, anchors_, noise);
  return mover_.flow().forces(theta_, score);
}

// A particle's bits are the same whichever thread computes its score.
void Posterior::score_particles() {
  Minibatch& batch = buffers_.batch;
  const bool marked = batch.weights.size() > 0 || batch.offsets.size() > 0;  // rows of all particles
  const std::size_t M = theta_.rows();
  const std::size_t parts = marked ? 1 : std::min(M, static_cast<std::size_t>(inner_threads()));
  if (buffers_.networks.size() < parts) buffers_.networks.resize(parts);
  if (buffers_.score.cols() != theta_.cols()) buffers_.score.reshape(M, theta_.cols());
  const std::span<const float> noise = buffers_.noise;
  inner_for(parts, [&](std::size_t part) {
    const FlushDenormals flush;
    const std::size_t first = part * M / parts, count = (part + 1) * M / parts - first;
    const ParticlesView anchors = anchors_.size() == 0 ? ParticlesView{} : anchors_.view().row_block(first, count);
    model_.score(theta_.view().row_block(first, count), batch, buffers_.networks[part],
                 buffers_.score.view().row_block(first, count), anchors,
                 noise.empty() ? noise : noise.subspan(first, count));
  });
}

void Posterior::draw_dropout() {
  const std::size_t B = buffers_.batch.size();
  std::vector<std::uint32_t> words(dropout_words(model_.network(), B));
  address_.purpose = Purpose::agent_private;
  fill_words(address_, 0, words);
  if (buffers_.networks.empty()) buffers_.networks.resize(1);
  set_dropout(model_.network(), config_.keep_units, B, words, buffers_.networks.front().unit_scale);
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
