// What every velocity sees and needs: the cloud of particles with its scores, and scratch memory that is kept
// from step to step.
#pragma once

#include "pits/core/matrix.h"
#include "pits/flow/kernel.h"

namespace pits {

template <class T>
struct Cloud {
  ConstMatrixView<T> theta;     // θ      (M,P)
  ConstMatrixView<T> score;     // G_i = ∇U(θ_i)   (M,P)
  ConstMatrixView<T> previous;  // θ′, the cloud that the transport of DGF starts from   (M,P)
};

template <class T>
struct Workspace {
  RbfKernel<T> kernel;
  Matrix<T> cost;          // c_ij = ‖θ_i − θ′_j‖²   (M,M)
  Matrix<T> score_weight;  // factor of G_j in v_i   (M,M)
  Matrix<T> pair_weight;   // factor of θ_i − θ_j or θ_i − θ′_j in v_i   (M,M)
};

// v_i += Σ_j w_ij G_j
template <class T>
void add_weighted_scores(ConstMatrixView<T> w, ConstMatrixView<T> score, MatrixView<T> v);

// v += G
template <class T>
void add_scores(const Cloud<T>& cloud, MatrixView<T> v, double factor = 1.0);

}  // namespace pits
