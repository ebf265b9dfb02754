#include "pits/agent/pi_ts.h"

#include <algorithm>
#include <cmath>

namespace pits {
namespace {

void check_last_layer(const PiTsConfig& c, const RewardModel& model) {
  if (c.last_layer.kind == LastLayerKind::trained) return;
  if (model.bernoulli()) throw bad_input("an exact last layer needs a Gaussian likelihood: model=linear or model=mlp");
  if (c.posterior.model.heads > 1) throw bad_input("an exact last layer has one head, not {}", c.posterior.model.heads);
  const Perturbation& p = c.posterior.perturbation;
  if (p.weights != MarkWeights::none || p.rewards) {
    throw bad_input(
        "an exact last layer sees the data as they are; networks with data of their own need last_layer=trained");
  }
}

}  // namespace

Fields fields(PiTsConfig& c) {
  return Fields{}
      .merge(fields(c.posterior))
      .merge(units_field(c.posterior))
      .merge(fields(c.last_layer))
      .merge(round_fields(c));
}

Fields round_fields(PiTsConfig& c) {
  return Fields{}
      .add("initial_pulls", c.initial_pulls, "forced round-robin pulls of each action", at_least(0))
      .add("train_every", c.train_every, "rounds between trainings", at_least(1))
      .add("train_first", c.train_first,
           "the first trainings are this many rounds apart, later ones a tenth of the rounds so far until train_every; "
           "0: train_every from the start",
           at_least(0))
      .add("train_share", c.train_share, "trainings are at least this share of the rounds that are remembered apart",
           between(0, 1))
      .add("train_steps", c.train_steps, "steps of the flow in a training", at_least(1))
      .add("floor", c.floor, "share of decisions made uniformly, so that no action's probability is 0", between(0, 1))
      .add("floor_decay", c.floor_decay, "the share falls with the rounds: floor/(1 + floor_decay·t)", at_least(0));
}

// In standardised units: a network of prior precision fan-in predicts rewards of about variance 1. Its noise is at
// least 0.7 of their standard deviation in training, so that noisy rewards are not fitted (docs/regret.md).
PiTsConfig auto_preset() {
  PiTsConfig c;
  c.posterior.units = UnitsKind::standardised;
  c.posterior.flow.kind = FlowKind::blob;
  c.posterior.model.noise_sd = 0.7;
  c.posterior.optimizer = {.rule = Rule::adam, .step = 1e-3, .schedule = Schedule::inverse, .decay = 0.003};
  c.posterior.batch = 256;
  c.last_layer.kind = LastLayerKind::exact;
  c.last_layer.train_noise = true;
  c.last_layer.disagreement = 0.25;  // as `exploration`: a quarter of what the posterior leaves open
  c.train_first = 4;
  c.train_share = 0.02;
  return c;
}

PiTsConfig fast_preset() {
  PiTsConfig c = auto_preset();
  c.posterior.particles = 4;
  c.posterior.model.hidden = {32};
  c.posterior.batch = 128;
  c.last_layer.linear_inputs = 32;
  c.train_steps = 10;
  return c;
}

PiTsConfig linear_auto_preset(std::string_view) {
  PiTsConfig c = auto_preset();
  c.posterior.model.kind = ModelKind::linear;
  c.posterior.flow.kind = FlowKind::ensemble;
  c.last_layer.exploration = 0.3;   // of 0.3 and 1 the better
  c.last_layer.disagreement = 1.0;  // all have the same means
  return c;
}

PiTsConfig pi_ts_preset(std::string_view name) {
  if (name == "auto") return auto_preset();
  if (name == "fast") return fast_preset();
  PiTsConfig c;
  if (name == "released") {  // docs/method.md, section 3: what the paper's table was made with
    c.posterior.flow.kind = FlowKind::dgf_released;
    c.posterior.model.noise_sd = std::sqrt(0.5);  // log p = −(r − m)²
    c.posterior.model.prior = PriorScale::same;
    c.posterior.model.prior_precision = 0.1;
    c.posterior.model.init = Init::fan_in;
    c.posterior.scale = LikelihoodScale::minibatch;
    c.posterior.optimizer = {.rule = Rule::sign, .step = 1e-3, .epsilon = 1e-6};
    c.train_every = 50;
    c.train_steps = 100;
  } else {  // the step falls to a tenth over the 2000 training steps of T = 2000
    c.posterior.optimizer = {.rule = Rule::adam, .step = 3e-3, .schedule = Schedule::exponential, .decay = 0.00115};
  }
  return c;
}

namespace {

// Of t observations, at most the weight of those that count.
double remembered(const ParticleConfig& c, std::uint64_t t) {
  const auto all = static_cast<double>(t);
  if (c.capacity > 0) return std::min(all, static_cast<double>(c.capacity));
  return c.discount < 1.0 ? std::min(all, 1.0 / (1.0 - c.discount)) : all;
}

}  // namespace

std::uint64_t training_interval(const PiTsConfig& c, std::uint64_t t) {
  const auto every = static_cast<std::uint64_t>(c.train_every), first = static_cast<std::uint64_t>(c.train_first);
  const std::uint64_t early = first == 0 ? every : std::clamp(t / 10, std::min(first, every), every);
  return std::max(early, static_cast<std::uint64_t>(c.train_share * remembered(c.posterior, t)));
}

int training_steps(const PiTsConfig& c) {
  const bool nothing = c.last_layer.kind == LastLayerKind::exact && c.posterior.model.kind == ModelKind::linear;
  return nothing ? 0 : c.train_steps;
}

PiTs::PiTs(const PiTsConfig& config, const AgentSetup& setup)
    : config_(checked(config)),
      setup_(setup),
      posterior_(config.posterior, setup.context_size, setup.actions, setup.seed, setup.realization) {
  check_last_layer(config_, posterior_.model());
  if (config_.last_layer.kind == LastLayerKind::trained) return;
  last_layers_.emplace(config_.last_layer, posterior_, Address{.seed = setup.seed, .realization = setup.realization});
}

ParticleVote PiTs::vote() const {
  const std::uint64_t t = posterior_.history().seen();
  const double floor = config_.floor / (1.0 + config_.floor_decay * static_cast<double>(t));
  return {posterior_.model(),
          posterior_.particles(),
          posterior_.units(),
          last_layers_ ? &last_layers_->drawn() : nullptr,
          floor,
          config_.initial_pulls,
          t,
          setup_};
}

Decision PiTs::choose(const Query& query) const { return vote().choose(query); }

std::vector<float> PiTs::probabilities(const Query& query) const { return vote().probabilities(query); }

double PiTs::propensities(const Query& query, std::uint32_t, std::span<float> p) const {
  return vote().propensities(query, p);
}

void PiTs::add_actions(std::size_t n) {
  posterior_.add_actions(n);
  if (last_layers_) last_layers_->add_actions(posterior_, n);
  setup_.add_actions(n);
}

void PiTs::find_training_noise(double width, std::vector<float>& noise) const {
  noise.clear();
  if (!last_layers_ || trained_at_ == 0) return;  // before the first fit they know nothing of the noise
  last_layers_->training_noise(config_.posterior.model.noise_sd, width, noise);
}

Forces PiTs::forces() const {
  std::vector<float> noise;
  find_training_noise(1.0, noise);
  return posterior_.forces(noise);
}

void PiTs::train() {
  const double unit = posterior_.units().raw_width(1.0);  // of the last layers, which were fitted in it
  posterior_.settle();
  find_training_noise(posterior_.units().reward_width(unit), training_noise_);
  posterior_.train(training_steps(config_), training_noise_);
  trained_at_ = posterior_.history().seen();
}

void PiTs::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    const Observation observation{.context = event.x, .action = event.action, .reward = event.reward};
    posterior_.observe(observation);
    const std::uint64_t t = posterior_.history().seen();
    if (t - trained_at_ >= training_interval(config_, t)) {
      train();
      if (last_layers_) last_layers_->fit(posterior_);
    } else if (last_layers_) {
      last_layers_->observe(posterior_, observation);
    }
  }
}

void PiTs::state(Archive& archive) {
  archive(posterior_, trained_at_);
  if (last_layers_) archive(*last_layers_);
}

bool PiTs::draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const {
  const ParticlesView theta = posterior_.particles();
  if (theta.rows() == 1) return false;  // a point is no distribution
  std::vector<float> values(setup_.actions);
  vote().values(draw % theta.rows(), posterior_.units().context(x), values);
  std::ranges::transform(values, out.begin(), [&](float r) { return posterior_.units().raw_reward(r); });
  return true;
}

double PiTs::noise_sd(std::size_t particle, Action action) const {
  const Units& units = posterior_.units();
  const double sd = last_layers_ ? std::sqrt(last_layers_->noise_variance(particle, action))
                                 : posterior_.model().noise_sd(posterior_.particles().row(particle), action);
  return units.raw_width(sd);
}

}  // namespace pits
