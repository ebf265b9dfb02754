#include "pits/environment/product_contexts.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pits {
namespace {

constexpr std::size_t most_levels = 5;  // of one variable
constexpr std::size_t sentinel_columns = 6;
constexpr double sentinel_share = 0.1;
constexpr float sentinel = -999.0F;

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// Increasing in z; N(0,1) becomes the distribution of the kind.
float shown(ContextKind kind, double z) {
  switch (kind) {
    case ContextKind::lognormal: return static_cast<float>(std::exp(z));
    case ContextKind::cauchy: return static_cast<float>(std::tan(std::numbers::pi * (normal_cdf(z) - 0.5)));
    case ContextKind::mixed:
    case ContextKind::normal:
    case ContextKind::sentinel: break;
  }
  return static_cast<float>(z);
}

// h columns in as few variables as possible, of sizes that differ by at most 1.
std::vector<std::size_t> split_levels(std::size_t h) {
  const std::size_t variables = (h + most_levels - 1) / most_levels;
  std::vector<std::size_t> levels(variables, variables == 0 ? 0 : h / variables);
  for (std::size_t i = 0; variables > 0 && i < h % variables; ++i) ++levels[i];
  return levels;
}

}  // namespace

ProductContexts::ProductContexts(ContextKind kind, std::size_t dimension, std::size_t noise_features)
    : kind_(kind), dimension_(dimension), noise_features_(noise_features), numbers_(dimension) {
  const std::size_t half = dimension / 2;
  if (kind != ContextKind::mixed || half < 2) return;  // a variable of one level would be constant
  numbers_ = dimension - half;
  levels_ = split_levels(half);
}

std::size_t ProductContexts::variable(std::size_t column) const {
  std::size_t first = numbers_;
  for (std::size_t v = 0; v < levels_.size(); first += levels_[v++]) {
    if (column >= first && column < first + levels_[v]) return numbers_ + v;
  }
  return column;
}

void ProductContexts::draw(Stream& stream, std::vector<float>& context, Eigen::VectorXd& seen) const {
  context.assign(size(), 0.0F);
  seen.resize(static_cast<Eigen::Index>(dimension_));
  for (std::size_t j = 0; j < numbers_; ++j) {
    const double z = stream.normal();
    context[j] = shown(kind_, z);
    seen[static_cast<Eigen::Index>(j)] = z;
  }
  auto first = static_cast<Eigen::Index>(numbers_);
  for (const std::size_t levels : levels_) {
    const auto level = static_cast<Eigen::Index>(stream.index(static_cast<std::uint32_t>(levels)));
    const double p = 1.0 / static_cast<double>(levels), sd = std::sqrt(p * (1.0 - p));
    seen.segment(first, static_cast<Eigen::Index>(levels)).setConstant(-p / sd);
    seen[first + level] = (1.0 - p) / sd;
    context[static_cast<std::size_t>(first + level)] = 1.0F;
    first += static_cast<Eigen::Index>(levels);
  }
  for (std::size_t j = dimension_; j < size(); ++j) context[j] = shown(kind_, stream.normal());
  if (kind_ != ContextKind::sentinel) return;
  for (std::size_t j = 0; j < std::min(dimension_, sentinel_columns); ++j) {
    if (stream.uniform() >= sentinel_share) continue;
    context[j] = sentinel;
    seen[static_cast<Eigen::Index>(j)] = 0.0;
  }
}

}  // namespace pits
