#include "pits/flow/blob.h"

namespace pits {

template <class T>
void add_blob(const Cloud<T>& cloud, Workspace<T>& w, Velocity<T>& v, double entropy) {
  const std::size_t M = cloud.theta.rows();
  const auto& [h, slope, k, S, d2] = w.kernel;
  const T repulsion = static_cast<T>(entropy) * slope;
  v.add_scores();
  Matrix<T>& pair_weight = v.add_differences(M);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) pair_weight(i, j) = repulsion * k(i, j) * (T{1} / S[i] + T{1} / S[j]);
  }
}

template void add_blob<float>(const Cloud<float>&, Workspace<float>&, Velocity<float>&, double);
template void add_blob<double>(const Cloud<double>&, Workspace<double>&, Velocity<double>&, double);

}  // namespace pits
