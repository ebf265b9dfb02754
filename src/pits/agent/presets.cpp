#include "pits/agent/presets.h"

#include <cmath>

#include "pits/posterior/standardise.h"

namespace pits {
namespace {

// Twenty networks with exact last layers, everything in units that the data give. One setting for all problems, found
// by search with seeds other than those that are reported (docs/search-log.md).
PiTsConfig exact() {
  PiTsConfig c;
  PosteriorConfig& p = c.posterior;
  p.units = UnitsKind::standardised;                 // contexts and rewards, so that one setting fits all problems
  p.particles = 20;                                  // as in the paper
  p.flow.kind = FlowKind::blob;                      // the flows differ by less than the standard error
  p.flow.bandwidth = {.rule = Scale::Rule::median};  // the median rule of SVGD
  p.flow.entropy = 1.0;                              // the flow of KL itself
  // A network of prior precision fan-in predicts standardised rewards of about variance 1. The noise of training is the
  // one that the last layers find, but at least 0.7 standard deviations, so that noisy rewards are not fitted.
  p.model.kind = ModelKind::mlp;
  p.model.hidden = {50};  // as in the paper
  p.model.activation = Activation::relu;
  p.model.init = Init::prior;
  p.model.prior = PriorScale::fan_in;
  p.model.prior_precision = 1.0;
  p.model.noise = Noise::fixed;
  p.model.noise_sd = 0.7;
  p.last_layer.train_noise = true;
  p.optimizer = {.rule = Rule::adam,
                 .step = 1e-3,  // searched with the decay
                 .schedule = Schedule::inverse,
                 .decay = 0.003,
                 .momentum = 0.9,  // Adam's own defaults
                 .second_moment = 0.999,
                 .epsilon = 1e-8};
  p.batch = 256;
  p.scale = LikelihoodScale::data;
  p.training = {
      .every = 20,
      .first = 4,     // early trainings pay most
      .share = 0.02,  // from round 1,000 on they are 2 % of the rounds apart: the cost per round does not grow
      .steps = 20,
  };
  c.exploration.initial_pulls = 2;  // as in the paper's code
  p.last_layer.kind = LastLayerKind::exact;
  p.last_layer.draws = HeadDraws::held;  // probabilities of actions are exact
  p.last_layer.posterior_scale = 0.25;   // a quarter of the posterior's standard deviation
  p.last_layer.mean_shrinkage = 0.25;    // and of the differences between networks
  p.last_layer.scale_prior = 4.0;        // finds the wheel's rare large rewards
  p.last_layer.noise_shape = 2.0;        // a weak prior of the noise variance, mean 0.3 of the rewards'
  p.last_layer.noise_scale = 0.3;
  p.last_layer.evidence = true;
  p.last_layer.linear_inputs = 64;  // longer contexts cost more than they bring
  p.last_layer.intercept = true;
  return c;
}

// The default, `pi-ts`: networks beside a linear model, weighed by how well they predict, robust units, and a memory
// that ends where the world has changed (docs/regret.md).
PiTsConfig default_settings() {
  PiTsConfig c = exact();
  PosteriorConfig& p = c.posterior;
  p.particles = 5;  // with 20 draws each they do what 20 did
  p.last_layer.kind = LastLayerKind::mixture;
  p.last_layer.held_draws = 20;                   // probabilities in steps of 0.01
  p.last_layer.optimistic = true;                 // with them half of the exploration does
  p.units = UnitsKind::robust;                    // missing values written as −999, heavy tails
  p.memory.adaptive = true;                       // what is older than a change is forgotten
  p.memory.capacity = 10'000;                     // bounds the longest training, memory and files
  c.exploration.cold_start = ColdStart::uniform;  // rewards may come late
  return c;
}

// The numbers of these two that no field sets, stated where they are used and repeated here so that all can be read
// in one place. Two more are part of a rule: early trainings are t/10 rounds apart (Training::interval), and an action
// with fewer than two rewards is drawn with a posterior_scale of at least 1 (update_draw_sd of
// LastLayers and Mixture).
using Constants = LastLayerConstants;
static_assert(Constants::margin == 0.1 && Constants::own_noise_pairs == 2.0);           // chosen by hand
static_assert(Constants::scale_prior_pairs == 1.0 && Constants::max_scale_sd == 32.0);  // searched
static_assert(Constants::unit_precision.low == 0.125 && Constants::unit_precision.high == 512.0 &&
              Constants::unit_precision.start == 1.0);  // hidden units and intercept
static_assert(Constants::input_precision.low == 2.5e-4 && Constants::input_precision.high == 4096.0 &&
              Constants::input_precision.start == 16.0);                                // contexts
static_assert(CoefficientGroup{}.expected == 1.0 && CoefficientGroup{}.weight == 2.0);  // prior of a precision
static_assert(furthest == 10.0);  // standard deviations at which contexts are clamped
using Mixed = MixtureConstants;
static_assert(Mixed::linear_handicap == 3.0 && Mixed::least_memory == 100.0 && Mixed::score_memory == 10'000.0 &&
              Mixed::least_weight == 1e-3 && Mixed::largest_step == 30.0);  // weights of the two models
static_assert(Mixed::scale_pulls == 20.0 && Mixed::coefficient_variance == 0.1 && Mixed::linear_variance == 0.03 &&
              Mixed::linear_variance_weight == 1.0);  // searched
static_assert(Mixed::linear_precision.low == 0.125 && Mixed::linear_precision.high == 4096.0 &&
              Mixed::linear_precision.start == 1.0);
using Forget = ForgettingConstants;
static_assert(Forget::margin == 10.0 && Forget::score_memory == 500.0);  // searched

PiTsConfig fast() {
  PiTsConfig c = default_settings();
  c.posterior.particles = 4;
  c.posterior.model.hidden = {32};
  c.posterior.batch = 128;
  c.posterior.last_layer.linear_inputs = 32;
  c.posterior.training.steps = 10;
  return c;
}

// Eq. 6 with the likelihood scaled by t/B. The step falls to a tenth over the 2,000 training steps of T = 2,000.
PiTsConfig paper() {
  PiTsConfig c;
  c.posterior.optimizer = {.rule = Rule::adam, .step = 3e-3, .schedule = Schedule::exponential, .decay = 0.00115};
  return c;
}

// docs/method.md, section 3: what the paper's table was made with.
PiTsConfig released() {
  PiTsConfig c;
  c.posterior.flow.kind = FlowKind::dgf_released;
  c.posterior.model.noise_sd = std::sqrt(0.5);  // log p = −(r − m)²
  c.posterior.model.prior = PriorScale::same;
  c.posterior.model.prior_precision = 0.1;
  c.posterior.model.init = Init::fan_in;
  c.posterior.scale = LikelihoodScale::minibatch;
  c.posterior.optimizer = {.rule = Rule::sign, .step = 1e-3, .epsilon = 1e-6};
  c.posterior.training = {.every = 50, .steps = 100};
  return c;
}

// Regressions on the contexts: particles of a linear model differ by their draws alone, and nothing is trained.
PiTsConfig linear() {
  PiTsConfig c = exact();
  c.posterior.model.kind = ModelKind::linear;
  c.posterior.flow.kind = FlowKind::ensemble;
  c.posterior.last_layer.posterior_scale = 0.3;  // the better of 0.3 and 1
  c.posterior.last_layer.mean_shrinkage = 1.0;   // all have the same means
  return c;
}

// Langevin Monte Carlo Thompson sampling (Xu et al. 2022): one network that takes noisy steps on the loss L of all
// observations, θ ← θ − η ∇L + √(2η/β) N(0, I), and plays its best action. With L = Σ (r − m)² + a ridge and
// β = 1/(2σ²), that is one particle and the flow sgld. L grows with the t observations, so steps fall as 1/t: one step
// of training per round, and step/(1 + k/20) = 20·step/(20 + k).
PiTsConfig langevin() {
  PiTsConfig c;
  c.posterior.particles = 1;
  c.posterior.flow.kind = FlowKind::sgld;
  c.posterior.model.init = Init::fan_in;
  c.posterior.optimizer = {.rule = Rule::sgd, .step = 1e-5, .schedule = Schedule::inverse, .decay = 0.05};
  c.posterior.batch = 0;
  c.posterior.training = {.every = 20, .steps = 20};
  return c;
}

// Ensemble sampling (Lu & Van Roy 2017): each network fits rewards with its own N(0, noise_sd²) added and is
// regularised towards its own draw from the prior. For a linear model each one ends at an exact posterior draw.
PiTsConfig ensemble_sampling() {
  PiTsConfig c = paper();
  c.posterior.flow.kind = FlowKind::ensemble;
  c.posterior.perturbation = {.rewards = true, .anchors = true};
  return c;
}

template <int particles, bool restart = false>
PiTsConfig showdown() {
  return {.posterior = showdown_networks(particles, restart)};
}

// Networks, units and trainings of pi-ts:exact, without its flow and its last layers.
template <int particles>
PiTsConfig independent() {
  PiTsConfig c = exact();
  c.posterior.particles = particles;
  c.posterior.flow.kind = FlowKind::ensemble;
  c.posterior.last_layer = {};
  c.posterior.model.noise_sd = 0.3;      // the best of 0.3, 0.5 and 1 for `ensemble` and `bootstrap`
  c.posterior.optimizer.decay = 0.0045;  // the default's before its last search; the search of `ensemble` had it
  return c;
}

// Each network keeps each observation with probability 0.95 (Riquelme et al. 2018).
PiTsConfig kept(PiTsConfig c) {
  c.posterior.perturbation = {.weights = BootstrapWeights::kept, .keep = 0.95};
  return c;
}

// The weighted likelihood bootstrap (Newton & Raftery 1994): each network weighs each observation by a draw from
// Exp(1).
PiTsConfig weighted(PiTsConfig c) {
  c.posterior.perturbation.weights = BootstrapWeights::exponential;
  return c;
}

// A random action with probability ε, else the one that the network thinks best.
PiTsConfig epsilon_greedy(PiTsConfig c) {
  c.exploration.floor = 0.05;
  return c;
}

// Exact Bayesian regressions per action on the last hidden units of a network, drawn at every decision (Snoek et al.
// 2015; Riquelme et al. 2018).
PiTsConfig neural_linear(PiTsConfig c, double lambda, double shape, double scale) {
  c.posterior.last_layer = {.kind = LastLayerKind::exact,
                            .draws = HeadDraws::per_decision,
                            .noise_shape = shape,
                            .noise_scale = scale,
                            .evidence = false,
                            .regression_lambda = lambda,
                            .linear_inputs = 0,
                            .intercept = false};
  return c;
}

PiTsConfig neural_linear_auto() {
  PiTsConfig c = neural_linear(independent<1>(), 1.0, 2.0, 0.3);
  c.posterior.model.noise_sd = 0.5;
  c.posterior.training.first = 0;
  c.posterior.training.steps = 40;  // the better of 20 and 40
  return c;
}

constexpr std::string_view as_run =
    "network and training of the showdown (Riquelme et al. 2018) as it ran: the step size never restarts";
constexpr std::string_view as_meant = "as the showdown meant them: every training restarts the step size";
constexpr std::string_view as_exact = "networks, units and trainings of pi-ts:exact";

}  // namespace

// One hidden ReLU layer of 50, weights U(−0.3, 0.3), mean squared error of 512 observations drawn with replacement,
// gradient norm clipped at 5, TensorFlow's RMSProp with step 0.1/(1 + 0.5·k), 100 steps every 50 rounds.
PosteriorConfig showdown_networks(int particles, bool restart) {
  PosteriorConfig c;
  c.particles = particles;
  c.flow.kind = FlowKind::ensemble;
  c.model.noise_sd = std::sqrt(0.5);  // log p = −(r − m)²: the squared error
  c.model.prior_precision = 0.0;
  c.model.init = Init::uniform;
  c.model.init_range = 0.3;
  c.scale = LikelihoodScale::mean;
  c.optimizer = {.rule = Rule::rmsprop,
                 .step = 0.1,
                 .schedule = Schedule::inverse,
                 .decay = 0.5,
                 .clip = 5.0,
                 .second_moment = 0.9,
                 .epsilon = 1e-5,  // TensorFlow adds 1e-10 under the root
                 .first_square = 1.0};
  c.optimizer.restart = restart;
  c.training = {.every = 50, .steps = 100};
  return c;
}

// The first row of an agent is its default.
const std::vector<PiTsPreset>& pi_ts_presets() {
  static const std::vector<PiTsPreset> table = {
      {"pi-ts", "auto", "five networks beside a linear model, robust units, late rewards, change", default_settings},
      {"pi-ts", "fast", "auto with fewer and smaller networks and less training", fast},
      {"pi-ts", "exact", "twenty networks with exact last layers, which forget nothing", exact},
      {"pi-ts", "paper", "Eq. 6 of the paper, likelihood scaled by t/B", paper},
      {"pi-ts", "released", "the authors' released code, which made the paper's table", released},
      {"lin-ts", "auto", "units, evidence and draws of pi-ts:exact", linear},
      {"langevin", "lmc", "full-data steps that fall as 1/t", langevin},
      {"neural-linear", "showdown", as_run, [] { return neural_linear(showdown<1>(), 0.25, 6.0, 6.0); }},
      {"neural-linear", "showdown-reset", as_meant, [] { return neural_linear(showdown<1, true>(), 0.25, 6.0, 6.0); }},
      {"neural-linear", "auto", as_exact, neural_linear_auto},
      {"neural-greedy", "showdown", as_run, showdown<1>},
      {"neural-greedy", "showdown-reset", as_meant, showdown<1, true>},
      {"ensemble", "showdown", as_run, showdown<20>},
      {"ensemble", "showdown-reset", as_meant, showdown<20, true>},
      {"ensemble", "auto", as_exact, independent<20>},
      {"ensemble-sampling", "paper", "particles as pi-ts:paper trains them, without its flow", ensemble_sampling},
      {"bootstrap", "showdown", as_run, [] { return kept(showdown<3>()); }},
      {"bootstrap", "showdown-reset", as_meant, [] { return kept(showdown<3, true>()); }},
      {"bootstrap", "auto", as_exact, [] { return kept(independent<20>()); }},
      {"weighted-bootstrap", "showdown", as_run, [] { return weighted(showdown<20>()); }},
      {"weighted-bootstrap", "showdown-reset", as_meant, [] { return weighted(showdown<20, true>()); }},
      {"epsilon-greedy", "showdown", as_run, [] { return epsilon_greedy(showdown<1>()); }},
      {"epsilon-greedy", "showdown-reset", as_meant, [] { return epsilon_greedy(showdown<1, true>()); }},
  };
  return table;
}

PiTsConfig pi_ts_preset(std::string_view agent, std::string_view name) {
  std::vector<std::string> names;
  for (const PiTsPreset& row : pi_ts_presets()) {
    if (row.agent != agent) continue;
    if (row.name == name) return row.config();
    names.emplace_back(row.name);
  }
  throw unknown_name(fmt::format("preset of {}", agent), name, names);
}

}  // namespace pits
