#include "pits/agent/dropout.h"

#include "pits/model/dropout.h"

namespace pits {
namespace {

NetworkConfig with_dropout(const DropoutConfig& config) {
  NetworkConfig c = checked(config).network;
  c.network.keep_units = config.keep;
  return c;
}

void draw_values(const RewardModel& model, std::span<const float> theta, double keep, ContextView x, Stream& stream,
                 std::span<float> out) {
  thread_local Network::Workspace workspace;
  evaluate_with_dropout(model.network(), theta, keep, x, stream, workspace, out);
}

}  // namespace

Fields fields(DropoutConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .add("keep", c.keep, "probability that a hidden unit stays, in training and acting",
           {.low = 0.0, .high = 1.0, .low_open = true});
}

Dropout::Dropout(const DropoutConfig& config, const AgentSetup& setup)
    : OneNetwork(with_dropout(config), setup), keep_(config.keep) {}

Decision Dropout::choose(const Query& query) const {
  return play_best(stage(), query, [this](ContextView x, Stream& stream, std::span<float> out) {
    draw_values(model(), theta(), keep_, x, stream, out);
  });
}

std::unique_ptr<const Policy> Dropout::snapshot() const {
  return frozen(stage(), [model = model(), theta = theta_copy(), keep = keep_](ContextView x, Stream& stream,
                                                                               std::span<float> out) {
    draw_values(model, theta, keep, x, stream, out);
  });
}

}  // namespace pits
