// The sums that the regressions of a mixture are fitted from, over all observations kept: in single precision over
// pieces of the history, added up in double. The contexts' part is the same for all networks and found once.
#pragma once

#include <span>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/model/minibatch.h"
#include "pits/posterior/bayes_linear.h"

namespace pits {

class Posterior;

class MixtureSums {
 public:
  // Reads the history in the standardiser's units. `inputs`: contexts are features of the networks' regressions;
  // `linear`: linear() will be asked for.
  void start(const Posterior& posterior, bool inputs, bool linear);
  std::span<const RegressionSums> linear() const { return contexts_; }  // (K) of the features (x, 1)
  // Of network i's features, (hidden units, x if `inputs`, 1); valid until the next call.
  std::span<const RegressionSums> network(const Posterior& posterior, std::size_t i);

 private:
  struct Piece {
    Minibatch batch;
    PaddedMatrix<float> rows;  // (R+1,B): the contexts' part, rewards
  };
  void read(const Posterior& posterior, std::size_t from);
  void add_units(ConstMatrixView<float> units, const Piece& piece);

  // Of the contexts' part, R rows: (x, 1), or 1 alone where neither networks nor the linear model ask for x.
  std::size_t first_ = 0;  // where the networks' features begin in it
  std::size_t pieces_ = 0;
  std::vector<Piece> piece_;              // the first `pieces_` are in use
  std::vector<RegressionSums> contexts_;  // (K) of R features
  std::vector<RegressionSums> network_;   // (K)
  Matrix<float> products_;
};

}  // namespace pits
