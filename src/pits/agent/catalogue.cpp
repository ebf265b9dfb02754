#include "pits/agent/catalogue.h"

#include "pits/agent/boltzmann.h"
#include "pits/agent/bootstrap.h"
#include "pits/agent/bootstrap_heads.h"
#include "pits/agent/context_free_ts.h"
#include "pits/agent/dropout.h"
#include "pits/agent/ensemble.h"
#include "pits/agent/ensemble_sampling.h"
#include "pits/agent/epsilon_greedy.h"
#include "pits/agent/feature_ts.h"
#include "pits/agent/fixed.h"
#include "pits/agent/langevin.h"
#include "pits/agent/lin_ts.h"
#include "pits/agent/lin_ucb.h"
#include "pits/agent/logistic_ts.h"
#include "pits/agent/neural_greedy.h"
#include "pits/agent/neural_linear.h"
#include "pits/agent/neural_logistic.h"
#include "pits/agent/neural_ts.h"
#include "pits/agent/neural_ucb.h"
#include "pits/agent/parameter_noise.h"
#include "pits/agent/pi_ts.h"
#include "pits/agent/ucb1.h"
#include "pits/agent/uniform.h"
#include "pits/agent/vi_ts.h"
#include "pits/agent/weighted_bootstrap.h"

namespace pits {
namespace {

template <class Made, class Config>
AgentEntry agent(std::string name, std::string summary, std::vector<Preset> presets = {},
                 Config (*preset)(std::string_view) = default_config<Config>) {
  return make_entry<Agent, AgentSetup, Made, Config>(std::move(name), std::move(summary), std::move(presets), preset);
}

std::vector<Preset> showdown_presets() {
  return {{"showdown",
           "network and training of the showdown (Riquelme et al. 2018) as it ran: the step size never starts anew"},
          {"showdown-reset", "as the showdown meant them: every training starts the step size anew"}};
}

std::vector<Preset> with_auto(std::vector<Preset> presets) {
  presets.push_back({"auto", "networks, units and trainings of pi-ts:auto"});
  return presets;
}

// As published, or with what pi-ts:auto does for networks, on the contexts themselves.
AgentEntry linear_ts() {
  AgentEntry entry = agent<LinTs, LinTsConfig>(
      "lin-ts", "linear Thompson sampling with exact posteriors",
      {{"showdown", "as Riquelme et al. (2018) set it"}, {"auto", "units, evidence and draws of pi-ts:auto"}});
  const AgentEntry scaled = agent<PiTs, PiTsConfig>("lin-ts", "", {}, linear_auto_preset);
  entry.recipe = [published = entry.recipe, scaled = scaled.recipe](std::string_view preset) {
    return preset == "auto" ? scaled(preset) : published(preset);
  };
  return entry;
}

}  // namespace

// To add an agent: one file, one line here, one test.
const std::vector<AgentEntry>& agent_catalogue() {
  static const std::vector<AgentEntry> catalogue = {
      agent<PiTs, PiTsConfig>("pi-ts", "particle-interactive Thompson sampling: networks moved by a gradient flow",
                              {{"auto", "contexts, rewards and noise in units that the data give, last layers exact"},
                               {"fast", "auto with fewer particles and less training"},
                               {"paper", "Eq. 6 of the paper, likelihood scaled by t/B"},
                               {"released", "the authors' released code, which made the paper's table"}},
                              pi_ts_preset),
      agent<FeatureTs, FeatureTsConfig>("feature-ts", "pi-ts over the features of contexts and actions together",
                                        {{"paper", "particles as pi-ts:paper moves them, no forced pulls"}},
                                        feature_ts_preset),
      linear_ts(),
      agent<BernoulliTs, BernoulliTsConfig>("bernoulli-ts", "context-free Thompson sampling, Beta posteriors"),
      agent<GaussianTs, GaussianTsConfig>("gaussian-ts",
                                          "context-free Thompson sampling, normal-inverse-gamma posteriors"),
      agent<ViTs, ViTsConfig>("vi-ts", "Thompson sampling by a mean-field posterior of a network (Bayes by backprop)",
                              {{"showdown", "as Riquelme et al. (2018) set it"}}),
      agent<Dropout, DropoutConfig>("dropout", "Thompson sampling by dropout, in training and acting",
                                    showdown_presets(), one_network_preset),
      agent<ParameterNoise, ParameterNoiseConfig>("parameter-noise",
                                                  "a network whose parameters get noise when it acts",
                                                  showdown_presets(), one_network_preset),
      agent<NeuralUcb, NeuralUcbConfig>("neural-ucb", "upper confidence bounds by the gradients of a network",
                                        showdown_presets(), one_network_preset),
      agent<NeuralTs, NeuralTsConfig>("neural-ts", "Thompson sampling by the gradients of a network",
                                      showdown_presets(), one_network_preset),
      agent<NeuralLogistic, NeuralLogisticConfig>("neural-logistic",
                                                  "Bayesian logistic regressions on a network's last layer",
                                                  showdown_presets(), neural_logistic_preset),
      agent<PiTs, PiTsConfig>("langevin", "Thompson sampling by a network that takes noisy gradient steps",
                              {{"lmc", "full-data steps that fall as 1/t"}}, langevin_preset),
      agent<Uniform, UniformConfig>("uniform", "every action with the same probability"),
      agent<NeuralLinear, NeuralLinearConfig>("neural-linear", "exact Bayesian regressions on a network's last layer",
                                              with_auto(showdown_presets()), neural_linear_preset),
      agent<NeuralGreedy, NetworkConfig>("neural-greedy", "one network's best action", showdown_presets(),
                                         network_preset),
      agent<PiTs, PiTsConfig>("ensemble", "independent networks, one drawn a round", with_auto(showdown_presets()),
                              ensemble_preset),
      agent<PiTs, PiTsConfig>("ensemble-sampling", "networks with their own perturbed rewards and priors", {},
                              ensemble_sampling_preset),
      agent<Bootstrap, BootstrapConfig>("bootstrap", "networks that each keep a random part of the data",
                                        with_auto(showdown_presets()), bootstrap_preset),
      agent<BootstrapHeads, BootstrapHeadsConfig>("bootstrap-heads", "bootstrapped heads on the body of one network",
                                                  showdown_presets(), bootstrap_heads_preset),
      agent<PiTs, PiTsConfig>("weighted-bootstrap", "networks with their own random weights of the data",
                              showdown_presets(), weighted_bootstrap_preset),
      agent<EpsilonGreedy, EpsilonGreedyConfig>("epsilon-greedy", "one network's best action, or a random one",
                                                showdown_presets(), epsilon_greedy_preset),
      agent<Boltzmann, BoltzmannConfig>("boltzmann", "softmax of one network's predicted rewards, or Gumbel noise",
                                        showdown_presets(), boltzmann_preset),
      agent<Fixed, FixedConfig>("fixed", "fixed probabilities of the actions"),
      agent<Ucb1, Ucb1Config>("ucb1", "context-free upper confidence bounds"),
      agent<LinUcb, LinUcbConfig>("lin-ucb", "upper confidence bounds of linear models"),
      agent<LogisticTs, LogisticTsConfig>("logistic-ts", "Thompson sampling with logistic regressions"),
  };
  return catalogue;
}

}  // namespace pits
