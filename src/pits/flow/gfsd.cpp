#include "pits/flow/gfsd.h"

#include "pits/core/kernels.h"

namespace pits {

template <class T>
void add_gfsd(const Cloud<T>& cloud, Workspace<T>& w, MatrixView<T> v, double entropy) {
  const std::size_t M = cloud.theta.rows();
  const auto& [h, slope, k, S, d2] = w.kernel;
  const T repulsion = static_cast<T>(entropy) * slope;
  w.pair_weight.reshape(M, M);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) w.pair_weight(i, j) = repulsion * k(i, j) / S[i];
  }
  add_scores(cloud, v);
  add_weighted_differences(w.pair_weight, cloud.theta, cloud.theta, v);
}

template void add_gfsd<float>(const Cloud<float>&, Workspace<float>&, MatrixView<float>, double);
template void add_gfsd<double>(const Cloud<double>&, Workspace<double>&, MatrixView<double>, double);

}  // namespace pits
