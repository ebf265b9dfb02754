// A network whose weights are independent Gaussians and whose biases are numbers, by local reparameterisation
// (Kingma, Salimans and Welling 2015): every unit's input Σ_j w_j h_j is drawn from N(Σ_j μ_j h_j, Σ_j σ_j² h_j²)
// instead of every weight. For one context both give the same distribution.
//
// Means, variances and their gradients have the layout of model/network.h; the variances of biases stay unread.
#pragma once

#include <span>

#include "pits/core/random.h"
#include "pits/model/network.h"

namespace pits {

struct GaussianWeights {
  std::span<const float> mean;      // (P)
  std::span<const float> variance;  // (P)
};

struct GaussianGradient {
  std::span<float> mean;      // (P)
  std::span<float> variance;  // (P)
};

class GaussianNetwork {
 public:
  // Added to every variance of a unit in a minibatch, as the showdown does: the root has a slope at 0.
  static constexpr float variance_floor = 1e-6F;

  GaussianNetwork(std::size_t inputs, const std::vector<int>& hidden, std::size_t outputs, Activation activation)
      : network_(inputs, hidden, outputs, activation), activation_(activation) {}

  std::size_t inputs() const { return network_.inputs(); }
  std::size_t outputs() const { return network_.outputs(); }
  std::size_t parameters() const { return network_.parameters(); }  // P
  const std::vector<Layer>& layers() const { return network_.layers(); }
  const Network& network() const { return network_; }  // of the same shape, without noise
  // Draws that an observation needs: one a hidden unit, one for the played output.
  std::size_t draws() const;

  struct Workspace {
    Matrix<float> noise;                // (draws,B): N(0,1) before forward(), slopes in the variances after it
    std::vector<Matrix<float>> hidden;  // output of hidden layer l, (width,B)
    std::vector<Matrix<float>> square;  // squared inputs of layer l
    std::vector<Matrix<float>> delta;   // of hidden layer l, (width,B)
    Matrix<float> variance;             // of the layer at work, (width,B)
    std::vector<float> values[3];       // one context through the layers
  };

  // The played action's output for every observation, out (B). The caller has filled w.noise.
  void forward(const GaussianWeights& q, const Minibatch& batch, Workspace& w, std::span<float> out) const;

  // gradient += Σ_b delta_b ∂output_b/∂(mean, variance), after forward() on the same q and batch.
  void backward(const GaussianWeights& q, const Minibatch& batch, std::span<const float> delta, Workspace& w,
                const GaussianGradient& gradient) const;

  // All K outputs for one context, of weights drawn from q.
  void sample(const GaussianWeights& q, std::span<const float> x, Stream& stream, Workspace& w,
              std::span<float> out) const;

 private:
  void forward_hidden(const GaussianWeights& q, const Minibatch& batch, Workspace& w) const;
  void backward_output(const GaussianWeights& q, const Minibatch& batch, std::span<const float> delta, Workspace& w,
                       const GaussianGradient& gradient) const;
  MatrixView<float> noise_of(Workspace& w, std::size_t l) const;

  Network network_;
  Activation activation_;
};

}  // namespace pits
