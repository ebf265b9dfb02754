#include "pits/model/network.h"

#include <algorithm>
#include <numeric>

#include "pits/core/kernels.h"
#include "pits/model/layer_views.h"
#include "pits/model/one_context.h"

namespace pits {
namespace {

// z ← scale ⊙ z
void multiply(std::span<const float> scale, std::span<float> z) {
  for (std::size_t i = 0; i < z.size(); ++i) z[i] *= scale[i];
}

// z ← z/scale where the scale is not 0: what multiply() did, undone where anything is left of it.
void divide(std::span<const float> scale, std::span<float> z) {
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = scale[i] == 0.0F ? z[i] : z[i] / scale[i];
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
  const std::size_t B = contexts.cols();
  w.hidden.resize(layers_.size() - 1);
  ConstMatrixView<float> input = contexts;
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    Matrix<float>& z = w.hidden[l];
    if (z.rows() != layer.outputs || z.cols() != B) z.reshape(layer.outputs, B);
    for (std::size_t i = 0; i < layer.outputs; ++i) std::ranges::fill(z.row(i), theta[layer.biases + i]);
    add_product(plain(weights_of(layer, theta)), input, z);
    activate(activation_, z.flat());
    if (!w.unit_scale.empty()) multiply(std::as_const(w.unit_scale[l]).flat(), z.flat());
    input = std::as_const(z).view();
  }
  return input;
}

void Network::forward(std::span<const float> theta, const Minibatch& batch, Workspace& w, std::span<float> out) const {
  const ConstMatrixView<float> input = hidden(theta, batch.contexts, w);
  const Layer& last = layers_.back();
  const ConstMatrixView<float> weights = weights_of(last, theta);
  for_each_group(batch, [&](const Group& g) {
    const std::span<float> outputs = out.subspan(g.first, g.count);
    std::ranges::fill(outputs, theta[last.biases + g.action]);
    add_product(plain(row_view(weights.row(g.action))), input.columns(g.first, g.count),
                MatrixView<float>(outputs.data(), 1, g.count));
  });
}

// The last layer: gradient of the played rows, and delta of the last hidden layer.
void Network::backward_output(std::span<const float> theta, const Minibatch& batch, std::span<const float> delta,
                              Workspace& w, std::span<float> gradient) const {
  const Layer& last = layers_.back();
  const bool linear = layers_.size() == 1;
  const ConstMatrixView<float> input = linear ? batch.contexts.view() : std::as_const(w.hidden.back()).view();
  const ConstMatrixView<float> weights = weights_of(last, theta);
  for_each_group(batch, [&](const Group& g) {
    const std::span<const float> d = delta.subspan(g.first, g.count);
    float* weight_gradient = gradient.data() + last.weights + g.action * last.inputs;
    add_product_transposed(input.columns(g.first, g.count), row_view(d),
                           MatrixView<float>(weight_gradient, last.inputs, 1));
    gradient[last.biases + g.action] += std::accumulate(d.begin(), d.end(), 0.0F);
    if (!linear) {
      add_product(transposed(row_view(weights.row(g.action))), row_view(d),
                  w.delta.back().view().columns(g.first, g.count));
    }
  });
}

void Network::backward(std::span<const float> theta, const Minibatch& batch, std::span<const float> delta, Workspace& w,
                       std::span<float> gradient) const {
  w.delta.resize(layers_.size() - 1);
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l) w.delta[l].reshape(layers_[l].outputs, batch.size());
  backward_output(theta, batch, delta, w, gradient);
  if (heads_ > 1 && !w.delta.empty()) {
    for (float& x : w.delta.back().flat()) x /= static_cast<float>(heads_);
  }
  for (std::size_t l = layers_.size() - 1; l-- > 0;) {
    const Layer& layer = layers_[l];
    Matrix<float>& d = w.delta[l];
    if (!w.unit_scale.empty()) {  // the slope is that of the activation before the scale
      multiply(std::as_const(w.unit_scale[l]).flat(), d.flat());
      divide(std::as_const(w.unit_scale[l]).flat(), w.hidden[l].flat());
    }
    multiply_by_slope(activation_, std::as_const(w.hidden[l]).flat(), d.flat());
    const ConstMatrixView<float> input = l == 0 ? batch.contexts.view() : std::as_const(w.hidden[l - 1]).view();
    add_product_transposed(d, input, MatrixView<float>(gradient.data() + layer.weights, layer.outputs, layer.inputs));
    for (std::size_t i = 0; i < layer.outputs; ++i) {
      gradient[layer.biases + i] += std::accumulate(d.row(i).begin(), d.row(i).end(), 0.0F);
    }
    if (l > 0) add_product(transposed(weights_of(layer, theta)), d, w.delta[l - 1]);
  }
}

}  // namespace pits
