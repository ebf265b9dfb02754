// NeuralUCB (Zhou, Li and Gu 2020) and NeuralTS (Zhang, Zhou, Li and Gu 2021). With g the gradient of the mean
// m(x, a; θ) and Z = λI + Σ g gᵀ over the actions played, NeuralUCB plays the action of highest
//   m(x, a; θ) + γ √(gᵀ Z⁻¹ g),
// NeuralTS the best of draws from N(m(x, a; θ), ν² λ gᵀ Z⁻¹ g). Their networks carry a factor √width, which their
// 1/width in Z and in the bonus cancels; ours have neither.
#pragma once

#include <cmath>

#include "pits/agent/network/one_network.h"
#include "pits/model/mean_gradient.h"
#include "pits/posterior/gradient_design.h"

namespace pits {

// A network and the design matrix Z of its gradients.
class GradientAgent : public OneNetwork {
 public:
  const GradientDesign& design() const { return design_; }

 protected:
  GradientAgent(const NetworkConfig& network, const DesignConfig& design, const AgentSetup& setup)
      : OneNetwork(network, setup), design_(design, model().parameters()) {
    check_discount(design, discount());
  }

  // value(mean, √(gᵀ Z⁻¹ g)) of every action, out (K). In single precision, as the networks are.
  template <class Value>
  void gradient_values(ContextView x, std::span<double> out, Value value) const {
    thread_local MeanGradient gradient;
    gradient.at(model(), theta(), x);
    for (std::size_t a = 0; a < out.size(); ++a) {
      const double norm = design_.norm(gradient.gradient(model(), theta(), a));
      out[a] = static_cast<float>(value(gradient.means()[a], norm));
    }
  }

  void state(Archive& archive) override {
    OneNetwork::state(archive);
    archive.version("GradientAgent", 1)(design_);
  }

 private:
  void on_event(const Feedback& event) override {
    if (discount() < 1.0) design_.discount(discount());
    thread_local MeanGradient gradient;
    gradient.at(model(), theta(), event.x);
    design_.add(gradient.gradient(model(), theta(), event.action));
  }
  void check_parameters(std::size_t parameters) const override { design_.check(parameters); }
  void on_new_actions(std::size_t, std::span<const std::size_t> map) override { design_.grow(map); }

  GradientDesign design_;
};

struct NeuralUcbConfig {
  NetworkConfig network{};
  DesignConfig design{};
  double gamma = 0.1;
};
inline Fields fields(NeuralUcbConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .merge(fields(c.design))
      .add("gamma", c.gamma, "weight of the exploration bonus", at_least(0));
}

class NeuralUcb : public Cloned<NeuralUcb, GradientAgent> {
 public:
  NeuralUcb(const NeuralUcbConfig& config, const AgentSetup& setup)
      : Cloned(checked(config).network, config.design, setup), gamma_(config.gamma) {}

 private:
  void values(ContextView x, Stream&, std::span<double> out) const override {
    gradient_values(x, out, [this](double mean, double norm) { return mean + gamma_ * norm; });
  }
  bool deterministic() const override { return true; }

  double gamma_;
};

struct NeuralTsConfig {
  NetworkConfig network{};
  DesignConfig design{};
  double nu = 0.1;
};
inline Fields fields(NeuralTsConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .merge(fields(c.design))
      .add("nu", c.nu, "scale of the draws' standard deviation", at_least(0));
}

class NeuralTs : public Cloned<NeuralTs, GradientAgent> {
 public:
  NeuralTs(const NeuralTsConfig& config, const AgentSetup& setup)
      : Cloned(checked(config).network, config.design, setup), scale_(config.nu * std::sqrt(config.design.lambda)) {}

 private:
  void values(ContextView x, Stream& stream, std::span<double> out) const override {
    gradient_values(x, out, [&](double mean, double norm) { return mean + scale_ * norm * stream.normal(); });
  }

  bool value_laws(ContextView x, std::span<ValueLaw> out) const override {
    thread_local std::vector<double> means;
    means.resize(out.size());
    std::size_t a = 0;
    gradient_values(x, means, [&](double mean, double norm) {
      out[a++] = {.mean = mean, .scale = scale_ * norm};
      return mean;
    });
    return true;
  }

  double scale_;  // ν √λ
};

}  // namespace pits
