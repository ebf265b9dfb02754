// How far a cloud of particles is from a density: against exact samples (W2, MMD) or against its score (KSD).
// Clouds are (n,P), one row a point, all points of the same mass. Everything is zero or positive; less is nearer.
#pragma once

#include "pits/core/matrix.h"

namespace pits {

// Wasserstein-2 distance √(min_σ (1/n) Σ_i ‖a_i − b_σ(i)‖²) between clouds of the same size, exact: O(n³).
double w2(ConstMatrixView<double> a, ConstMatrixView<double> b);

// Maximum mean discrepancy (Gretton et al. 2012) to a fixed sample, with k(x,y) = exp(−‖x − y‖²/h):
//   MMD² = mean k(a,a) + mean k(b,b) − 2 mean k(a,b)
// as a V-statistic (the diagonal terms count), so that it is zero for equal clouds and never negative.
// h is the median of ‖b_i − b_j‖², i ≠ j, of the sample b: the same for every cloud compared with it.
class Mmd {
 public:
  explicit Mmd(Matrix<double> sample);
  double operator()(ConstMatrixView<double> a) const;  // the root, MMD
  double bandwidth() const { return h_; }

 private:
  Matrix<double> sample_;
  double h_ = 0.0;
  double self_ = 0.0;  // mean k(b,b)
};
double mmd(ConstMatrixView<double> a, ConstMatrixView<double> b);

// Kernel Stein discrepancy with the inverse multiquadric k(x,y) = (1 + ‖x − y‖²)^{−1/2} (Gorham and Mackey 2017):
//   KSD² = (1/n²) Σ_ij [ s_i·s_j k + s_i·∇_y k + s_j·∇_x k + tr ∇_x∇_y k ](θ_i, θ_j),   s = score
// as a V-statistic; the root is returned. Needs no sample of the density, only its score at θ.
double ksd(ConstMatrixView<double> theta, ConstMatrixView<double> score);

}  // namespace pits
