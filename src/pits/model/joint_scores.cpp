#include "pits/model/joint_scores.h"

#include <algorithm>

#include "pits/core/simd/kernels.h"
#include "pits/model/kernels/layer_kernels.h"
#include "pits/model/kernels/layer_views.h"

namespace pits {
namespace {

// Actions at a time: their features and a layer's units stay in the cache while all particles pass.
constexpr std::size_t tile = 256;
// Rows lie this far apart: rows a power of two apart would compete for the same lines of the cache.
constexpr std::size_t stride = tile + 16;

struct Scratch {
  Matrix<float> features;             // (dz, stride): actions along SIMD lanes
  std::vector<Matrix<float>> values;  // of layer l, (outputs, stride)
  std::vector<float> shared;          // the context's part of the first layer, (outputs)
};

// W x + b without the columns that belong to the action.
void context_part(const Layer& first, std::span<const float> theta, std::span<const float> x, std::span<float> out) {
  std::ranges::copy(theta.subspan(first.biases, first.outputs), out.begin());
  if (x.empty()) return;
  add_product_transposed(weights_of(first, theta).columns(0, x.size()), row_view(x),
                         MatrixView<float>(out.data(), out.size(), 1));
}

// out(j,a) = z(a,j), a cache line of every row of `out` at a time.
void turn(ConstMatrixView<float> z, MatrixView<float> out) {
  constexpr std::size_t line = 16;
  for (std::size_t first = 0; first < z.rows(); first += line) {
    const std::size_t last = std::min(first + line, z.rows());
    for (std::size_t j = 0; j < z.cols(); ++j) {
      for (std::size_t a = first; a < last; ++a) out(j, a) = z(a, j);
    }
  }
}

// The outputs of one particle for the n actions of a tile.
std::span<const float> tile_scores(const Network& network, std::span<const float> theta, std::size_t context_size,
                                   std::span<const float> shared, std::size_t n, Scratch& s) {
  const std::vector<Layer>& layers = network.layers();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const MatrixView<float> z = s.values[l].view().columns(0, n);
    ConstMatrixView<float> weights = weights_of(layers[l], theta);
    if (l == 0) weights = weights.columns(context_size, layers[0].inputs - context_size);
    const std::span<const float> biases = l == 0 ? shared : theta.subspan(layers[l].biases, layers[l].outputs);
    const ConstMatrixView<float> input = std::as_const(l == 0 ? s.features : s.values[l - 1]).view().columns(0, n);
    if (l + 1 < layers.size()) {
      activated_layer(network.activation(), plain(weights), biases, input, z);
    } else {
      std::ranges::fill(z.row(0), biases[0]);  // one output: the reward
      add_product(plain(weights), input, z);
    }
  }
  return std::as_const(s.values.back()).row(0).first(n);
}

}  // namespace

void joint_scores(const Network& network, ParticlesView theta, std::span<const float> x, ConstMatrixView<float> z,
                  MatrixView<float> out) {
  thread_local Scratch s;
  const Layer& first = network.layers().front();
  s.features.reshape(z.cols(), stride);
  s.values.resize(network.layers().size());
  for (std::size_t l = 0; l < s.values.size(); ++l) s.values[l].reshape(network.layers()[l].outputs, stride);
  Matrix<float> shared(theta.rows(), first.outputs);
  for (std::size_t i = 0; i < theta.rows(); ++i) context_part(first, theta.row(i), x, shared.row(i));
  for (std::size_t start = 0; start < z.rows(); start += tile) {
    const std::size_t n = std::min(tile, z.rows() - start);
    turn(z.row_block(start, n), s.features);
    for (std::size_t i = 0; i < theta.rows(); ++i) {
      std::ranges::copy(tile_scores(network, theta.row(i), x.size(), shared.row(i), n, s),
                        out.row(i).begin() + static_cast<std::ptrdiff_t>(start));
    }
  }
}

}  // namespace pits
