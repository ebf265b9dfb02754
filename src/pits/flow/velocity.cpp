#include "pits/flow/velocity.h"

#include <algorithm>

#include "pits/core/simd/kernels.h"

namespace pits {

template <class T>
typename Velocity<T>::Term& Velocity<T>::next(Kind kind, std::size_t M) {
  if (used_ == terms_.size()) terms_.emplace_back();
  Term& term = terms_[used_++];
  term.kind = kind;
  term.weights.reshape(M, M);
  return term;
}

template <class T>
void Velocity<T>::evaluate(const Cloud<T>& cloud, MatrixView<T> v) const {
  for (std::size_t i = 0; i < v.rows(); ++i) std::ranges::fill(v.row(i), T{0});
  for (const Term& term : std::span(terms_).first(used_)) {
    switch (term.kind) {
      case Kind::scores:
        for (std::size_t i = 0; i < v.rows(); ++i) {
          for (std::size_t l = 0; l < v.cols(); ++l) v(i, l) += term.factor * cloud.score(i, l);
        }
        break;
      case Kind::weighted_scores: add_product(plain(term.weights.view()), cloud.score, v); break;
      case Kind::differences: add_weighted_differences(term.weights, cloud.theta, cloud.theta, v); break;
      case Kind::differences_to_previous: add_weighted_differences(term.weights, cloud.theta, cloud.previous, v); break;
    }
  }
}

template class Velocity<float>;
template class Velocity<double>;

}  // namespace pits
