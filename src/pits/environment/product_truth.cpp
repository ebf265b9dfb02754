#include "pits/environment/product_truth.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pits/core/error.h"

namespace pits {
namespace {

// Shares of a score's variance.
constexpr double main_share = 0.2;  // what does not depend on the context
constexpr double product_share = 0.6;

constexpr Eigen::Index most_kept = 1 << 23;  // weights; later knots are drawn again in every round

Stream setup_stream(const EnvironmentSetup& setup, std::size_t step) {
  return round_stream(setup, Purpose::environment_setup, step);
}

using Pairs = std::vector<std::pair<Eigen::Index, Eigen::Index>>;

Pairs draw_pairs(Stream& stream, const ProductContexts& contexts) {
  const auto d = static_cast<std::uint32_t>(contexts.dimension());
  if (d < 2) throw bad_input("truth=interactions: dimension must be at least 2, not {}", d);
  Pairs pairs;
  while (pairs.size() < d) {
    const std::uint32_t i = stream.index(d), j = stream.index(d);
    if (contexts.variable(i) != contexts.variable(j)) pairs.emplace_back(i, j);
  }
  return pairs;
}

}  // namespace

ProductTruth::ProductTruth(const TruthConfig& config, std::size_t rows, const ProductContexts& contexts,
                           const EnvironmentSetup& setup)
    : config_(config),
      setup_(setup),
      rows_(static_cast<Eigen::Index>(rows)),
      columns_(config.kind == TruthKind::constant ? 0 : static_cast<Eigen::Index>(contexts.dimension())) {
  Stream stream = setup_stream(setup, 0);
  if (config.kind == TruthKind::interactions) products_ = draw_pairs(stream, contexts);
  if (config.change == Change::wander) {
    for (std::size_t i = 0; i < rows; ++i) phases_.push_back(2.0 * std::numbers::pi * stream.uniform());
  }
  kept_.push_back(draw_weights(0));
  const bool moves = config.change == Change::switch_ || config.change == Change::drift;
  const auto most = static_cast<std::size_t>(most_kept / kept_[0].size());
  const std::size_t knots = moves ? knot(setup.steps) + 2 : 1;
  while (kept_.size() < std::min(knots, most)) kept_.push_back(draw_weights(kept_.size()));
}

std::size_t ProductTruth::knot(std::size_t t) const { return t / static_cast<std::size_t>(config_.period); }

Eigen::MatrixXd ProductTruth::draw_weights(std::size_t knot) const {
  const auto products = static_cast<Eigen::Index>(products_.size());
  Eigen::MatrixXd weights(rows_, 1 + columns_ + products);
  Stream stream = setup_stream(setup_, knot + 1);  // step 0: pairs and phases
  for (double& w : weights.reshaped()) w = stream.normal();
  if (columns_ == 0) return weights;
  const double rest = 1.0 - main_share - (products > 0 ? product_share : 0.0);
  weights.col(0) *= std::sqrt(main_share);
  weights.middleCols(1, columns_) *= std::sqrt(rest / static_cast<double>(columns_));
  if (products > 0) weights.rightCols(products) *= std::sqrt(product_share / static_cast<double>(products));
  return weights;
}

Eigen::VectorXd ProductTruth::features(const Eigen::VectorXd& seen) const {
  Eigen::VectorXd all(1 + columns_ + static_cast<Eigen::Index>(products_.size()));
  all[0] = 1.0;
  if (columns_ > 0) all.segment(1, columns_) = seen;
  Eigen::Index at = 1 + columns_;
  for (const auto& [i, j] : products_) all[at++] = seen[i] * seen[j];
  return all;
}

Eigen::VectorXd ProductTruth::weigh(std::size_t knot, const Eigen::VectorXd& features) const {
  if (knot < kept_.size()) return kept_[knot] * features;
  return draw_weights(knot) * features;
}

Eigen::VectorXd ProductTruth::scores(const Eigen::VectorXd& seen, std::size_t t) const {
  const Eigen::VectorXd f = features(seen);
  const double whole = static_cast<double>(t) / config_.period;
  switch (config_.change) {
    case Change::none: break;
    case Change::switch_: return weigh(knot(t), f);
    case Change::drift: {
      const double angle = 0.5 * std::numbers::pi * (whole - std::floor(whole));
      return std::cos(angle) * weigh(knot(t), f) + std::sin(angle) * weigh(knot(t) + 1, f);
    }
    case Change::wander: {
      Eigen::VectorXd out = weigh(0, f);
      for (Eigen::Index i = 0; i < rows_; ++i) {
        const double phase = phases_[static_cast<std::size_t>(i)];
        out[i] += std::numbers::sqrt2 * std::sin(2.0 * std::numbers::pi * whole + phase);
      }
      return out;
    }
  }
  return weigh(0, f);
}

}  // namespace pits
