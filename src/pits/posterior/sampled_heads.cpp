#include "pits/posterior/sampled_heads.h"

#include <algorithm>

#include "pits/core/simd/kernels.h"
#include "pits/model/kernels/layer_views.h"

namespace pits {
namespace {

// out = W x, W the rows of `matrix` from `first` on
void rows_times(const Matrix<float>& matrix, std::size_t first, std::span<const float> x, std::span<float> out) {
  std::ranges::fill(out, 0.0F);
  add_product_transposed(matrix.view().row_block(first, out.size()), row_view(x),
                         MatrixView<float>(out.data(), out.size(), 1));
}

}  // namespace

void SampledHeads::means(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x,
                         Network::Workspace& w, std::span<float> mean_out, std::span<float> offset) const {
  thread_local std::vector<float> features;
  find_features(network.hidden(theta.row(i), x, w), x, *this, features);
  rows_times(mean, i * actions, features, mean_out);
  rows_times(deviation, i * actions, features, offset);
  for (std::size_t a = 0; a < actions; ++a) {
    if (optimistic) offset[a] = std::max(0.0F, offset[a]);
    mean_out[a] = std::clamp(mean_out[a], low, high);
    offset[a] *= draw_sd(i, a);
  }
}

void SampledHeads::values(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x,
                          Network::Workspace& w, std::span<float> out) const {
  thread_local std::vector<float> offset;
  offset.resize(actions);
  means(network, theta, i, x, w, out, offset);
  for (std::size_t a = 0; a < actions; ++a) out[a] += offset[a];
}

void SampledHeads::values(const Network& network, ParticlesView theta, std::span<const float> x, Network::Workspace& w,
                          Matrix<float>& out) const {
  const std::size_t M = theta.rows();
  thread_local Matrix<float> offset;
  offset.reshape(M, actions);
  out.reshape(M, actions);
  for (std::size_t i = 0; i < M; ++i) means(network, theta, i, x, w, out.row(i), offset.row(i));
  for (std::size_t a = 0; a < actions; ++a) {
    float mean_of_all = 0.0F;
    for (std::size_t i = 0; i < M; ++i) mean_of_all += out(i, a) / static_cast<float>(M);
    for (std::size_t i = 0; i < M; ++i) {
      out(i, a) = mean_of_all + mean_shrinkage * (out(i, a) - mean_of_all) + offset(i, a);
    }
  }
}

}  // namespace pits
