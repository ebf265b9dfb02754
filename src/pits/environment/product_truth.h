// The truth of product problems: scores of a context, drawn anew for every realization, that may change with time.
//
//   score_i(x, t) = m_i(t) + w_i(t)·x + Σ_jk v_ijk(t)·x_j·x_k
//
// Weights are normal draws. A score has variance 1: 0.2 of it from m, 0.8 from w; with interactions 0.2 from w, 0.6
// from v.
#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

#include "pits/environment/environment.h"
#include "pits/environment/product_contexts.h"

namespace pits {

// constant: the context does not matter, score_i = m_i. interactions: products of d pairs of columns count as well.
enum class TruthKind { linear, interactions, constant };
template <>
inline constexpr auto enum_names<TruthKind> = std::array{"linear", "interactions", "constant"};

// switch: all weights are drawn anew every `period` rounds. drift: they move from one such draw to the next, on an arc
// that keeps their variance. wander: √2 sin(2π t/period + a phase of its own) is added to each score.
enum class Change { none, switch_, drift, wander };
template <>
inline constexpr auto enum_names<Change> = std::array{"none", "switch", "drift", "wander"};

struct TruthConfig {
  TruthKind kind = TruthKind::linear;
  Change change = Change::none;
  int period = 2000;
};

class ProductTruth {
 public:
  // `rows` scores of contexts with these columns.
  ProductTruth(const TruthConfig& config, std::size_t rows, const ProductContexts& contexts,
               const EnvironmentSetup& setup);

  Eigen::VectorXd scores(const Eigen::VectorXd& seen, std::size_t t) const;  // (rows)

 private:
  std::size_t knot(std::size_t t) const;                 // how many whole periods before round t
  Eigen::MatrixXd draw_weights(std::size_t knot) const;  // (rows, features)
  Eigen::VectorXd weigh(std::size_t knot, const Eigen::VectorXd& features) const;
  Eigen::VectorXd features(const Eigen::VectorXd& seen) const;  // 1, columns, products

  TruthConfig config_;
  EnvironmentSetup setup_;
  Eigen::Index rows_;
  Eigen::Index columns_;                                         // 0 where the context does not matter
  std::vector<std::pair<Eigen::Index, Eigen::Index>> products_;  // pairs of columns of different variables
  std::vector<double> phases_;                                   // (rows) of wander
  std::vector<Eigen::MatrixXd> kept_;                            // weights of knots 0, 1, ...
};

}  // namespace pits
