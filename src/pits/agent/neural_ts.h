// NeuralTS (Zhang, Zhou, Li and Gu 2021): the best of draws from N(m(x, a; θ), ν² λ gᵀ Z⁻¹ g), one for each action,
// with g the gradient of the mean and Z = λI + Σ g gᵀ over the actions played. Of their factors of the width see
// neural_ucb.h.
#pragma once

#include "pits/agent/one_network.h"
#include "pits/posterior/gradient_design.h"

namespace pits {

struct NeuralTsConfig {
  NetworkConfig network{};
  DesignConfig design{};
  double nu = 0.1;
};
Fields fields(NeuralTsConfig& config);

class NeuralTs : public OneNetwork {
 public:
  NeuralTs(const NeuralTsConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  std::unique_ptr<const Policy> snapshot() const override;
  void state(Archive& archive) override {
    OneNetwork::state(archive);
    archive(design_);
  }

 private:
  void on_event(const Feedback& event) override;
  void check_parameters(std::size_t parameters) const override { design_.check(parameters); }
  void on_new_actions(std::size_t, std::span<const std::size_t> map) override { design_.grow(map); }

  double scale_;  // ν √λ
  GradientDesign design_;
};

}  // namespace pits
