#include "pits/agent/neural_ts.h"

#include <cmath>

#include "pits/agent/gradient_values.h"

namespace pits {
namespace {

void draw_values(const RewardModel& model, std::span<const float> theta, const GradientDesign& design, double scale,
                 ContextView x, Stream& stream, std::span<float> out) {
  gradient_values(model, theta, design, x, out,
                  [&](double mean, double norm) { return mean + scale * norm * stream.normal(); });
}

}  // namespace

Fields fields(NeuralTsConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .merge(fields(c.design))
      .add("nu", c.nu, "scale of the draws' standard deviation", at_least(0));
}

NeuralTs::NeuralTs(const NeuralTsConfig& config, const AgentSetup& setup)
    : OneNetwork(checked(config).network, setup),
      scale_(config.nu * std::sqrt(config.design.lambda)),
      design_(config.design, model().parameters()) {
  check_discount(config.design, discount());
}

Decision NeuralTs::choose(const Query& query) const {
  return play_best(stage(), query, [this](ContextView x, Stream& stream, std::span<float> out) {
    draw_values(model(), theta(), design_, scale_, x, stream, out);
  });
}

void NeuralTs::on_event(const Feedback& event) {
  if (discount() < 1.0) design_.discount(discount());
  add_play(model(), theta(), event.x, event.action, design_);
}

std::unique_ptr<const Policy> NeuralTs::snapshot() const {
  return frozen(stage(), [model = model(), theta = theta_copy(), design = design_, scale = scale_](
                             ContextView x, Stream& stream, std::span<float> out) {
    draw_values(model, theta, design, scale, x, stream, out);
  });
}

}  // namespace pits
