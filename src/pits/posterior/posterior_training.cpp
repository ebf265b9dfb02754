// A training of a posterior, from the units to the last layers.
#include <algorithm>

#include "pits/core/parallel.h"
#include "pits/core/simd/denormals.h"
#include "pits/model/dropout.h"
#include "pits/posterior/posterior.h"

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

}  // namespace

void Posterior::find_training_noise(double width, std::vector<float>& noise) const {
  noise.clear();
  if (mixture_ && trained_at_ > 0) return mixture_->training_noise(config_.model.noise_sd, width, noise);
  if (!last_layers_ || trained_at_ == 0) return;  // before the first fit they know nothing of the noise
  last_layers_->training_noise(config_.model.noise_sd, width, noise);
}

// The last layers' noise is in the units of their last fit: it is converted to the new ones before the networks move.
void Posterior::train(int steps) {
  if (history_.size() == 0) throw failed("train: no observation yet");
  const Standardiser& standardiser = thread_copy(standardiser_);  // as before, if the training fails
  const Particles& theta = thread_copy(theta_);
  const Mover<float>& mover = thread_copy(mover_);
  const std::uint64_t units_at = units_at_;
  try {
    refit(steps);
  } catch (...) {
    standardiser_ = standardiser;
    theta_ = theta;
    mover_ = mover;
    units_at_ = std::max<std::uint64_t>(units_at, 1);  // 0 would ask for a training at once; 1 is as old
    throw;
  }
}

void Posterior::refit(int steps) {
  const double unit = standardiser_.raw_width(1.0);
  const bool grown =
      !mixture_ || units_are_due(mixture_->inputs(), history_.seen(), units_at_, config_.memory.capacity);
  if (grown) {
    standardiser_.refresh(history_);
    units_at_ = history_.seen();
  }
  find_training_noise(standardiser_.reward_width(unit), buffers_.noise);
  trained_at_ = history_.seen();
  move(steps);
  if (last_layers_) last_layers_->fit(*this);
  if (mixture_) mixture_->fit(*this, grown);
}

void Posterior::move(int steps) {
  const FlushDenormals flush;
  mover_.begin_training();
  for (int i = 0; i < steps; ++i) {
    train_step();
    if (!mover_.diverged()) continue;
    throw failed("the particles diverged after {} training steps; a smaller step than {} may hold them", steps_done(),
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

}  // namespace pits
