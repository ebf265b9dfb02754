#include "pits/agent/neural_ucb.h"

#include "pits/agent/gradient_values.h"

namespace pits {
namespace {

void upper_bounds(const RewardModel& model, std::span<const float> theta, const GradientDesign& design, double gamma,
                  ContextView x, std::span<float> out) {
  gradient_values(model, theta, design, x, out, [gamma](double mean, double norm) { return mean + gamma * norm; });
}

}  // namespace

Fields fields(NeuralUcbConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .merge(fields(c.design))
      .add("gamma", c.gamma, "weight of the exploration bonus", at_least(0));
}

NeuralUcb::NeuralUcb(const NeuralUcbConfig& config, const AgentSetup& setup)
    : OneNetwork(checked(config).network, setup), gamma_(config.gamma), design_(config.design, model().parameters()) {
  check_discount(config.design, discount());
}

Decision NeuralUcb::choose(const Query& query) const {
  return play_best(stage(false), query, [this](ContextView x, Stream&, std::span<float> out) {
    upper_bounds(model(), theta(), design_, gamma_, x, out);
  });
}

void NeuralUcb::on_event(const Feedback& event) {
  if (discount() < 1.0) design_.discount(discount());
  add_play(model(), theta(), event.x, event.action, design_);
}

std::unique_ptr<const Policy> NeuralUcb::snapshot() const {
  return frozen(stage(false), [model = model(), theta = theta_copy(), design = design_, gamma = gamma_](
                                  ContextView x, Stream&, std::span<float> out) {
    upper_bounds(model, theta, design, gamma, x, out);
  });
}

}  // namespace pits
