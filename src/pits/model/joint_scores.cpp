#include "pits/model/joint_scores.h"

#include <algorithm>

#include "pits/core/kernels.h"
#include "pits/model/layer_views.h"

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

void fill_rows(MatrixView<float> block, std::span<const float> column) {
  for (std::size_t o = 0; o < block.rows(); ++o) std::ranges::fill(block.row(o), column[o]);
}

// The outputs of one particle for the n actions of a tile.
std::span<const float> tile_scores(const Network& network, std::span<const float> theta, std::size_t context_size,
                                   std::span<const float> shared, std::size_t n, Scratch& s) {
  const std::vector<Layer>& layers = network.layers();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const MatrixView<float> z = s.values[l].view().columns(0, n);
    ConstMatrixView<float> weights = weights_of(layers[l], theta);
    if (l == 0) {
      fill_rows(z, shared);
      weights = weights.columns(context_size, layers[0].inputs - context_size);
      add_product(plain(weights), std::as_const(s.features).view().columns(0, n), z);
    } else {
      fill_rows(z, theta.subspan(layers[l].biases, layers[l].outputs));
      add_product(plain(weights), std::as_const(s.values[l - 1]).view().columns(0, n), z);
    }
    if (l + 1 == layers.size()) break;
    activate(network.activation(), s.values[l].flat());
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
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t j = 0; j < z.cols(); ++j) s.features(j, a) = z(start + a, j);
    }
    for (std::size_t i = 0; i < theta.rows(); ++i) {
      std::ranges::copy(tile_scores(network, theta.row(i), x.size(), shared.row(i), n, s),
                        out.row(i).begin() + static_cast<std::ptrdiff_t>(start));
    }
  }
}

}  // namespace pits
