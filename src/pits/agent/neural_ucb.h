// NeuralUCB (Zhou, Li and Gu 2020): the action of highest m(x, a; θ) + γ √(gᵀ Z⁻¹ g), with g the gradient of the mean
// and Z = λI + Σ g gᵀ over the actions played. Their networks carry a factor √width, which their 1/width in Z and
// in the bonus cancels; ours have neither.
#pragma once

#include "pits/agent/one_network.h"
#include "pits/posterior/gradient_design.h"

namespace pits {

struct NeuralUcbConfig {
  NetworkConfig network{};
  DesignConfig design{};
  double gamma = 0.1;
};
Fields fields(NeuralUcbConfig& config);

class NeuralUcb : public OneNetwork {
 public:
  NeuralUcb(const NeuralUcbConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  std::unique_ptr<const Policy> snapshot() const override;
  void state(Archive& archive) override {
    OneNetwork::state(archive);
    archive(design_);
  }

  const GradientDesign& design() const { return design_; }

 private:
  void on_event(const Feedback& event) override;
  void check_parameters(std::size_t parameters) const override { design_.check(parameters); }
  void on_new_actions(std::size_t, std::span<const std::size_t> map) override { design_.grow(map); }

  double gamma_;
  GradientDesign design_;
};

}  // namespace pits
