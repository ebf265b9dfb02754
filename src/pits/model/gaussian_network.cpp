#include "pits/model/gaussian_network.h"

#include <algorithm>
#include <cmath>

#include "pits/core/simd/kernels.h"
#include "pits/model/kernels/layer_kernels.h"
#include "pits/model/kernels/layer_views.h"
#include "pits/model/kernels/local_reparameterisation.h"

namespace pits {
namespace {

void square(ConstMatrixView<float> x, Matrix<float>& out) {
  if (out.rows() != x.rows() || out.cols() != x.cols()) out.reshape(x.rows(), x.cols());
  for (std::size_t i = 0; i < x.rows(); ++i) {
    std::ranges::transform(x.row(i), out.row(i).begin(), [](float v) { return v * v; });
  }
}

// out ← a ⊙ b
void product(std::span<const float> a, std::span<const float> b, std::span<float> out) {
  std::ranges::transform(a, b, out.begin(), [](float x, float y) { return x * y; });
}

MatrixView<float> column(float* data, std::size_t rows) { return {data, rows, 1}; }

ConstMatrixView<float> input_of(std::size_t l, const Minibatch& batch, const GaussianNetwork::Workspace& w) {
  return l == 0 ? batch.contexts.view() : w.hidden[l - 1].view();
}

// The slopes by the inputs h of a unit whose variance is Σ_j v_j h_j²: delta += 2 h ⊙ by_square.
void add_through_square(std::span<const float> h, std::span<const float> by_square, std::span<float> delta) {
  for (std::size_t i = 0; i < delta.size(); ++i) delta[i] += 2.0F * h[i] * by_square[i];
}

}  // namespace

std::size_t GaussianNetwork::draws() const {
  std::size_t units = 1;
  for (std::size_t l = 0; l + 1 < layers().size(); ++l) units += layers()[l].outputs;
  return units;
}

// Rows of w.noise that belong to layer l; the last layer's is the last row.
MatrixView<float> GaussianNetwork::noise_of(Workspace& w, std::size_t l) const {
  std::size_t first = 0;
  for (std::size_t k = 0; k < l; ++k) first += layers()[k].outputs;
  const bool last = l + 1 == layers().size();
  return {w.noise.row(first).data(), last ? 1 : layers()[l].outputs, w.noise.cols()};
}

void GaussianNetwork::forward_hidden(const GaussianWeights& q, const Minibatch& batch, Workspace& w) const {
  const std::size_t B = batch.size();
  w.hidden.resize(layers().size() - 1);
  w.square.resize(layers().size());
  for (std::size_t l = 0; l + 1 < layers().size(); ++l) {
    const Layer& layer = layers()[l];
    const ConstMatrixView<float> input = input_of(l, batch, w);
    Matrix<float>& z = w.hidden[l];
    if (z.rows() != layer.outputs || z.cols() != B) z.reshape(layer.outputs, B);
    for (std::size_t i = 0; i < layer.outputs; ++i) std::ranges::fill(z.row(i), q.mean[layer.biases + i]);
    add_product(plain(weights_of(layer, q.mean)), input, z);
    square(input, w.square[l]);
    w.variance.reshape(layer.outputs, B);
    add_product(plain(weights_of(layer, q.variance)), w.square[l], w.variance);
    perturb(z.flat(), std::as_const(w.variance).flat(), variance_floor, noise_of(w, l).flat());
    activate(activation_, z.flat());
  }
}

void GaussianNetwork::forward(const GaussianWeights& q, const Minibatch& batch, Workspace& w,
                              std::span<float> out) const {
  forward_hidden(q, batch, w);
  const std::size_t l = layers().size() - 1;
  const Layer& last = layers()[l];
  const ConstMatrixView<float> input = input_of(l, batch, w);
  square(input, w.square[l]);
  w.variance.reshape(1, batch.size());
  for_each_group(batch, [&](const Group& g) {
    const std::span<float> outputs = out.subspan(g.first, g.count);
    std::ranges::fill(outputs, q.mean[last.biases + g.action]);
    add_product(plain(row_view(weights_of(last, q.mean).row(g.action))), input.columns(g.first, g.count),
                MatrixView<float>(outputs.data(), 1, g.count));
    add_product(plain(row_view(weights_of(last, q.variance).row(g.action))),
                std::as_const(w.square[l]).view().columns(g.first, g.count),
                w.variance.view().columns(g.first, g.count));
  });
  perturb(out, std::as_const(w.variance).flat(), variance_floor, noise_of(w, l).flat());
}

// The last layer: gradient of the played rows, and delta of the last hidden layer.
void GaussianNetwork::backward_output(const GaussianWeights& q, const Minibatch& batch, std::span<const float> delta,
                                      Workspace& w, const GaussianGradient& gradient) const {
  const std::size_t l = layers().size() - 1;
  const Layer& last = layers()[l];
  const ConstMatrixView<float> input = input_of(l, batch, w);
  const ConstMatrixView<float> squared = std::as_const(w.square[l]);
  const std::span<float> by_variance = noise_of(w, l).flat();  // ∂/∂variance of each output
  product(delta, by_variance, by_variance);
  if (l > 0) w.variance.reshape(last.inputs, batch.size());  // ∂/∂h² from here on
  for_each_group(batch, [&](const Group& g) {
    const ConstMatrixView<float> d = row_view(delta.subspan(g.first, g.count));
    const ConstMatrixView<float> e = row_view(by_variance.subspan(g.first, g.count));
    const std::size_t row = last.weights + g.action * last.inputs;
    add_product_transposed(input.columns(g.first, g.count), d, column(gradient.mean.data() + row, last.inputs));
    add_product_transposed(squared.columns(g.first, g.count), e, column(gradient.variance.data() + row, last.inputs));
    add_row_sums(d, gradient.mean.subspan(last.biases + g.action, 1));
    if (l == 0) return;
    add_product(transposed(row_view(weights_of(last, q.mean).row(g.action))), d,
                w.delta[l - 1].view().columns(g.first, g.count));
    add_product(transposed(row_view(weights_of(last, q.variance).row(g.action))), e,
                w.variance.view().columns(g.first, g.count));
  });
  if (l > 0) add_through_square(input.flat(), std::as_const(w.variance).flat(), w.delta[l - 1].flat());
}

void GaussianNetwork::backward(const GaussianWeights& q, const Minibatch& batch, std::span<const float> delta,
                               Workspace& w, const GaussianGradient& gradient) const {
  w.delta.resize(layers().size() - 1);
  for (std::size_t l = 0; l + 1 < layers().size(); ++l) w.delta[l].reshape(layers()[l].outputs, batch.size());
  backward_output(q, batch, delta, w, gradient);
  for (std::size_t l = layers().size() - 1; l-- > 0;) {
    const Layer& layer = layers()[l];
    Matrix<float>& d = w.delta[l];
    multiply_by_slope(activation_, std::as_const(w.hidden[l]).flat(), d.flat());
    const MatrixView<float> by_variance = noise_of(w, l);
    product(std::as_const(d).flat(), by_variance.flat(), by_variance.flat());
    add_product_transposed(d, input_of(l, batch, w),
                           {gradient.mean.data() + layer.weights, layer.outputs, layer.inputs});
    add_product_transposed(by_variance, w.square[l],
                           {gradient.variance.data() + layer.weights, layer.outputs, layer.inputs});
    add_row_sums(d, gradient.mean.subspan(layer.biases, layer.outputs));
    if (l == 0) continue;
    add_product(transposed(weights_of(layer, q.mean)), d, w.delta[l - 1]);
    w.variance.reshape(layer.inputs, batch.size());
    add_product(transposed(weights_of(layer, q.variance)), by_variance, w.variance);
    add_through_square(input_of(l, batch, w).flat(), std::as_const(w.variance).flat(), w.delta[l - 1].flat());
  }
}

void GaussianNetwork::sample(const GaussianWeights& q, std::span<const float> x, Stream& stream, Workspace& w,
                             std::span<float> out) const {
  std::vector<float>& input = w.values[0];
  std::vector<float>& z = w.values[1];
  std::vector<float>& variance = w.values[2];
  input.assign(x.begin(), x.end());
  for (std::size_t l = 0; l < layers().size(); ++l) {
    const Layer& layer = layers()[l];
    z.resize(layer.outputs);
    affine(layer, q.mean, input, z);
    product(input, input, input);
    variance.assign(layer.outputs, 0.0F);
    add_product_transposed(weights_of(layer, q.variance), row_view(input), column(variance.data(), variance.size()));
    for (std::size_t i = 0; i < z.size(); ++i) z[i] += std::sqrt(variance[i]) * static_cast<float>(stream.normal());
    if (l + 1 < layers().size()) activate(activation_, z);
    std::swap(input, z);
  }
  std::ranges::copy(input, out.begin());
}

}  // namespace pits
