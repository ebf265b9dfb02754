#include "pits/model/network.h"

#include <algorithm>

#include "pits/model/kernels/layer_kernels.h"
#include "pits/model/kernels/layer_views.h"
#include "pits/model/kernels/one_context.h"

namespace pits {
namespace {

// z ← scale ⊙ z
void multiply(ConstMatrixView<float> scale, MatrixView<float> z) {
  for (std::size_t i = 0; i < z.rows(); ++i) {
    for (std::size_t j = 0; j < z.cols(); ++j) z(i, j) *= scale(i, j);
  }
}

// z ← z/scale where the scale is not 0: what multiply() did, undone where anything is left of it.
void divide(ConstMatrixView<float> scale, MatrixView<float> z) {
  for (std::size_t i = 0; i < z.rows(); ++i) {
    for (std::size_t j = 0; j < z.cols(); ++j) z(i, j) = scale(i, j) == 0.0F ? z(i, j) : z(i, j) / scale(i, j);
  }
}

}  // namespace

Network::Network(std::size_t inputs, const std::vector<int>& hidden, std::size_t outputs, Activation activation,
                 int heads)
    : activation_(activation), heads_(heads) {
  std::size_t offset = 0;
  std::size_t width = inputs;
  const auto add_layer = [&](std::size_t out) {
    layers_.push_back({width, out, offset, offset + out * width});
    offset += out * width + out;
    width = out;
  };
  for (const int units : hidden) add_layer(static_cast<std::size_t>(units));
  add_layer(outputs);
}

std::span<const float> Network::hidden(std::span<const float> theta, std::span<const float> x, Workspace& w) const {
  if (layers_.size() == 1) return x;
  std::vector<float>& units = w.values[0];
  units.resize(features());
  evaluate_context({std::span(layers_).first(layers_.size() - 1), activation_, true}, row_view(theta), x, w.values[1],
                   {units.data(), 1, units.size()});
  return units;
}

void Network::evaluate(std::span<const float> theta, std::span<const float> x, Workspace& w,
                       std::span<float> out) const {
  evaluate_context({layers_, activation_, false}, row_view(theta), x, w.values[1], {out.data(), 1, out.size()});
}

ConstMatrixView<float> Network::hidden(std::span<const float> theta, ConstMatrixView<float> contexts,
                                       Workspace& w) const {
  return hidden(theta, contexts, {}, false, w);
}

ConstMatrixView<float> Network::hidden(std::span<const float> theta, ConstMatrixView<float> contexts,
                                       const SparseContexts& sparse, bool bf16, Workspace& w) const {
  const std::size_t B = contexts.cols();
  w.hidden.resize(layers_.size() - 1);
  ConstMatrixView<float> input = contexts;
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    PaddedMatrix<float>& z = w.hidden[l];
    z.reshape(layer.outputs, B);
    const std::span<const float> biases = theta.subspan(layer.biases, layer.outputs);
    if (l == 0 && !sparse.empty()) {
      activated_layer(activation_, weights_of(layer, theta), biases, sparse, w.sparse, z);
    } else if (bf16) {
      activated_layer_bf16(activation_, weights_of(layer, theta), biases, input, w.sparse.tiled, z);
    } else {
      activated_layer(activation_, plain(weights_of(layer, theta)), biases, input, z);
    }
    if (!w.unit_scale.empty()) multiply(w.unit_scale[l], z);
    input = std::as_const(z).view();
  }
  return input;
}

void Network::forward(std::span<const float> theta, const Minibatch& batch, Workspace& w, std::span<float> out) const {
  const ConstMatrixView<float> input = hidden(theta, batch.contexts, batch.sparse, batch.bf16, w);
  const Layer& last = layers_.back();
  const ConstMatrixView<float> weights = weights_of(last, theta);
  for_each_group(batch, [&](const Group& g) {
    const std::span<float> outputs = out.subspan(g.first, g.count);
    std::ranges::fill(outputs, theta[last.biases + g.action]);
    add_product(plain(row_view(weights.row(g.action))), input.columns(g.first, g.count),
                MatrixView<float>(outputs.data(), 1, g.count));
  });
}

std::span<const float> Network::body_delta(std::span<const float> delta, Workspace& w) const {
  if (heads_ == 1) return delta;
  w.body_delta.assign(delta.begin(), delta.end());
  for (float& d : w.body_delta) d /= static_cast<float>(heads_);
  return w.body_delta;
}

// delta[l] ← (weights · delta) ⊙ slope for the columns from `first` on; with dropout the slope is that of the
// activation before the scale.
void Network::propagate(std::size_t l, Factor<float> weights, ConstMatrixView<float> delta, std::size_t first,
                        bool bf16, Workspace& w) const {
  const std::size_t count = delta.cols();
  const MatrixView<float> hidden = w.hidden[l].view().columns(first, count);
  const MatrixView<float> out = w.delta[l].view().columns(first, count);
  if (!w.unit_scale.empty()) divide(w.unit_scale[l].view().columns(first, count), hidden);
  if (bf16) {
    product_times_slope_bf16(activation_, weights, delta, hidden, w.sparse.tiled, out);
  } else {
    product_times_slope(activation_, weights, delta, hidden, out);
  }
  if (!w.unit_scale.empty()) multiply(w.unit_scale[l].view().columns(first, count), out);
}

// The last layer: gradient of the played rows, and delta of the last hidden layer.
void Network::backward_output(std::span<const float> theta, const Minibatch& batch, std::span<const float> delta,
                              Workspace& w, std::span<float> gradient) const {
  const Layer& last = layers_.back();
  const bool linear = layers_.size() == 1;
  const ConstMatrixView<float> input = linear ? batch.contexts.view() : std::as_const(w.hidden.back()).view();
  const ConstMatrixView<float> weights = weights_of(last, theta);
  const std::span<const float> flowing = body_delta(delta, w);
  for_each_group(batch, [&](const Group& g) {
    const ConstMatrixView<float> d = row_view(delta.subspan(g.first, g.count));
    float* weight_gradient = gradient.data() + last.weights + g.action * last.inputs;
    add_product_transposed(input.columns(g.first, g.count), d, MatrixView<float>(weight_gradient, last.inputs, 1));
    add_row_sums(d, gradient.subspan(last.biases + g.action, 1));
    if (linear) return;
    propagate(layers_.size() - 2, transposed(row_view(weights.row(g.action))),
              row_view(flowing.subspan(g.first, g.count)), g.first, false, w);
  });
}

// The gradient of hidden layer l from its deltas.
void Network::backward_layer(std::size_t l, const Minibatch& batch, Workspace& w, std::span<float> gradient) const {
  const Layer& layer = layers_[l];
  const ConstMatrixView<float> d = std::as_const(w.delta[l]).view();
  const MatrixView<float> weights(gradient.data() + layer.weights, layer.outputs, layer.inputs);
  const std::span<float> biases = gradient.subspan(layer.biases, layer.outputs);
  if (l > 0 || batch.sparse.empty()) {
    const ConstMatrixView<float> input = l == 0 ? batch.contexts.view() : std::as_const(w.hidden[l - 1]).view();
    if (batch.bf16) {
      add_product_transposed_bf16(d, input, w.sparse.tiled, weights);
    } else {
      add_product_transposed(d, input, weights);
    }
    add_row_sums(d, biases);
    return;
  }
  w.bias_sums.assign(layer.outputs, 0.0F);
  add_row_sums(d, w.bias_sums);
  add_product_transposed(d, w.bias_sums, batch.sparse, w.sparse, weights);
  for (std::size_t i = 0; i < biases.size(); ++i) biases[i] += w.bias_sums[i];
}

void Network::backward(std::span<const float> theta, const Minibatch& batch, std::span<const float> delta, Workspace& w,
                       std::span<float> gradient) const {
  w.delta.resize(layers_.size() - 1);
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l) w.delta[l].reshape(layers_[l].outputs, batch.size());
  backward_output(theta, batch, delta, w, gradient);
  for (std::size_t l = layers_.size() - 1; l-- > 0;) {
    backward_layer(l, batch, w, gradient);
    if (l > 0) propagate(l - 1, transposed(weights_of(layers_[l], theta)), w.delta[l].view(), 0, batch.bf16, w);
  }
}

}  // namespace pits
