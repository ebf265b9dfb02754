// What every velocity sees and needs: the cloud of particles with its scores, scratch memory that is kept from step to
// step, and the form that all velocities have.
#pragma once

#include <vector>

#include "pits/core/matrix.h"
#include "pits/flow/kernel.h"

namespace pits {

template <class T>
struct Cloud {
  ConstMatrixView<T> theta;     // θ      (M,P)
  ConstMatrixView<T> score;     // G_i = ∇U(θ_i)   (M,P)
  ConstMatrixView<T> previous;  // θ′, the cloud that the transport of DGF starts from   (M,P)

  Cloud columns(std::size_t first, std::size_t count) const {
    return {theta.columns(first, count), score.columns(first, count), previous.columns(first, count)};
  }
};

template <class T>
struct Workspace {
  RbfKernel<T> kernel;
  Matrix<T> cost;  // c_ij = ‖θ_i − θ′_j‖²   (M,M)
};

// A velocity as a sum of terms in scores and differences of particles. Their weights need the whole cloud; once they
// are known, the columns of a velocity can be had in any number and order, with the same bits.
template <class T>
class Velocity {
 public:
  void clear() { used_ = 0; }

  // v_i += factor · G_i
  void add_scores(double factor = 1.0) { next(Kind::scores, 0).factor = static_cast<T>(factor); }
  // Weights (M,M), zeros to be filled in: v_i += Σ_j w_ij G_j, Σ_j w_ij (θ_i − θ_j), Σ_j w_ij (θ_i − θ′_j)
  Matrix<T>& add_weighted_scores(std::size_t M) { return next(Kind::weighted_scores, M).weights; }
  Matrix<T>& add_differences(std::size_t M) { return next(Kind::differences, M).weights; }
  Matrix<T>& add_differences_to_previous(std::size_t M) { return next(Kind::differences_to_previous, M).weights; }

  // v for the cloud that the weights were made for, or for some of its columns.
  void evaluate(const Cloud<T>& cloud, MatrixView<T> v) const;

 private:
  enum class Kind { scores, weighted_scores, differences, differences_to_previous };
  struct Term {
    Kind kind;
    T factor;
    Matrix<T> weights;
  };
  Term& next(Kind kind, std::size_t M);

  std::vector<Term> terms_;  // of which the first used_ count; the others keep their memory
  std::size_t used_ = 0;
};

}  // namespace pits
