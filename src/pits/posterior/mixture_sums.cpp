#include "pits/posterior/mixture_sums.h"

#include <algorithm>

#include "pits/core/simd/kernels.h"
#include "pits/model/kernels/layer_views.h"
#include "pits/posterior/posterior.h"

namespace pits {
namespace {

constexpr std::size_t piece_size = 1024;

void clear(std::vector<RegressionSums>& sums, std::size_t actions, std::size_t features) {
  const auto F = static_cast<Eigen::Index>(features);
  if (sums.size() != actions || sums[0].xy.size() != F) {
    sums.assign(actions, RegressionSums(F));
  } else {
    for (RegressionSums& s : sums) s.clear();
  }
}

// Of column j of XᵀX, from the diagonal on, which is what sums hold of it.
double* column(RegressionSums& sums, std::size_t j) {
  return sums.xx.data() + j * static_cast<std::size_t>(sums.xy.size());
}
const double* column(const RegressionSums& sums, std::size_t j) {
  return sums.xx.data() + j * static_cast<std::size_t>(sums.xy.size());
}

}  // namespace

void MixtureSums::start(const Posterior& posterior, bool inputs, bool linear) {
  const Network& network = posterior.model().network();
  const std::size_t d = network.inputs(), K = network.outputs();
  const std::size_t from = inputs || linear ? 0 : d, R = d + 1 - from;  // features from..d of (x, 1)
  first_ = (inputs ? 0 : d) - from;
  read(posterior, from);
  clear(contexts_, K, R);
  for (std::size_t p = 0; p < pieces_; ++p) {
    for_each_group(piece_[p].batch, [&](const Group& g) {
      const auto rows = std::as_const(piece_[p].rows).view().columns(g.first, g.count);
      products_.reshape(R + 1, R + 1);
      add_gram(rows, products_);
      RegressionSums& sums = contexts_[g.action];
      for (std::size_t j = 0; j < R; ++j) {
        for (std::size_t i = j; i < R; ++i) column(sums, j)[i] += products_(j, i);
        sums.xy[static_cast<Eigen::Index>(j)] += products_(j, R);
      }
      sums.yy += products_(R, R);
      sums.n += static_cast<double>(g.count);
    });
  }
}

void MixtureSums::read(const Posterior& posterior, std::size_t from) {
  const History& history = posterior.history();
  pieces_ = (history.size() + piece_size - 1) / piece_size;
  if (piece_.size() < pieces_) piece_.resize(pieces_);
  for (std::size_t p = 0; p < pieces_; ++p) {
    Piece& piece = piece_[p];
    const std::size_t first = p * piece_size;
    history.slice(first, std::min(piece_size, history.size() - first), piece.batch);
    posterior.standardiser().apply(piece.batch);
    const std::size_t x = piece.batch.contexts.rows() - from;
    piece.rows.reshape(x + 2, piece.batch.size());
    for (std::size_t j = 0; j < x; ++j)
      std::ranges::copy(piece.batch.contexts.row(from + j), piece.rows.row(j).begin());
    std::ranges::fill(piece.rows.row(x), 1.0F);
    std::ranges::copy(piece.batch.rewards, piece.rows.row(x + 1).begin());
  }
}

std::span<const RegressionSums> MixtureSums::network(const Posterior& posterior, std::size_t i) {
  thread_local Network::Workspace workspace;
  const Network& network = posterior.model().network();
  const std::size_t K = contexts_.size(), rest = static_cast<std::size_t>(contexts_[0].xy.size()) - first_;
  const std::size_t H = network.features();
  clear(network_, K, H + rest);
  for (std::size_t p = 0; p < pieces_; ++p) {
    add_units(network.hidden(posterior.particles().row(i), piece_[p].batch.contexts, workspace), piece_[p]);
  }
  for (std::size_t a = 0; a < K; ++a) {
    const RegressionSums& of = contexts_[a];
    RegressionSums& sums = network_[a];
    for (std::size_t j = 0; j < rest; ++j) {
      std::copy_n(column(of, first_ + j) + first_ + j, rest - j, column(sums, H + j) + H + j);
      sums.xy[static_cast<Eigen::Index>(H + j)] = of.xy[static_cast<Eigen::Index>(first_ + j)];
    }
    sums.yy = of.yy;
    sums.n = of.n;
  }
  return network_;
}

// Units with units, and with the contexts' part and the rewards.
void MixtureSums::add_units(ConstMatrixView<float> units, const Piece& piece) {
  const std::size_t H = units.rows(), rest = piece.rows.rows() - first_;
  for_each_group(piece.batch, [&](const Group& g) {
    const ConstMatrixView<float> own = units.columns(g.first, g.count);
    const auto others = piece.rows.view().columns(g.first, g.count).row_block(first_, rest);
    products_.reshape(H, H + rest);
    add_gram(own, products_.view().columns(0, H));
    add_product_transposed(own, others, products_.view().columns(H, rest));
    RegressionSums& sums = network_[g.action];
    for (std::size_t j = 0; j < H; ++j) {
      double* to = column(sums, j);
      for (std::size_t i = j; i < H + rest - 1; ++i) to[i] += products_(j, i);
      sums.xy[static_cast<Eigen::Index>(j)] += products_(j, H + rest - 1);
    }
  });
}

}  // namespace pits
