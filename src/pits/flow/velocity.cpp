#include "pits/flow/velocity.h"

#include "pits/core/kernels.h"

namespace pits {

template <class T>
void add_weighted_scores(ConstMatrixView<T> w, ConstMatrixView<T> score, MatrixView<T> v) {
  add_product(plain(w), score, v);
}

template <class T>
void add_scores(const Cloud<T>& cloud, MatrixView<T> v, double factor) {
  const T f = static_cast<T>(factor);
  for (std::size_t l = 0; l < v.size(); ++l) v.data()[l] += f * cloud.score.data()[l];
}

template void add_weighted_scores<float>(ConstMatrixView<float>, ConstMatrixView<float>, MatrixView<float>);
template void add_weighted_scores<double>(ConstMatrixView<double>, ConstMatrixView<double>, MatrixView<double>);
template void add_scores<float>(const Cloud<float>&, MatrixView<float>, double);
template void add_scores<double>(const Cloud<double>&, MatrixView<double>, double);

}  // namespace pits
