// Contexts of product problems, and what the truth sees of them.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "pits/core/enum_names.h"
#include "pits/core/random.h"

namespace pits {

// mixed: the first half of the columns are numbers N(0,1), the others one-hot levels, five to a variable.
// The others are numbers only. lognormal: e^z, cauchy: Cauchy, both monotone in a z ~ N(0,1) that the truth sees.
// sentinel: N(0,1), and −999 in a tenth of the cells of the first six columns, where the truth sees 0.
enum class ContextKind { mixed, normal, lognormal, cauchy, sentinel };
template <>
inline constexpr auto enum_names<ContextKind> = std::array{"mixed", "normal", "lognormal", "cauchy", "sentinel"};

class ProductContexts {
 public:
  // Columns that matter, and columns of the same kind of numbers that do not.
  ProductContexts(ContextKind kind, std::size_t dimension, std::size_t noise_features);

  std::size_t size() const { return dimension_ + noise_features_; }  // of a context
  std::size_t dimension() const { return dimension_; }
  // The variable that a column belongs to: a number is one of its own, the levels of one variable share it.
  std::size_t variable(std::size_t column) const;
  // Fills a context and `seen`, (dimension), its columns with mean 0 and variance 1.
  void draw(Stream& stream, std::vector<float>& context, Eigen::VectorXd& seen) const;

 private:
  ContextKind kind_;
  std::size_t dimension_;
  std::size_t noise_features_;
  std::size_t numbers_;              // columns 0..numbers−1 of the dimension; then the levels
  std::vector<std::size_t> levels_;  // of each variable that is one-hot
};

}  // namespace pits
