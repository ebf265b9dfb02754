#include "pits/flow/svgd.h"

#include "pits/core/kernels.h"

namespace pits {

const std::vector<std::string>& EnumNames<ScoreAt>::names() {
  static const std::vector<std::string> names = {"neighbour", "own"};
  return names;
}

template <class T>
void add_svgd(const Cloud<T>& cloud, const SvgdParameters& parameters, Workspace<T>& w, MatrixView<T> v) {
  const std::size_t M = cloud.theta.rows();
  const T per_particle = T{1} / static_cast<T>(M);
  const T repulsion = static_cast<T>(parameters.entropy) * w.kernel.slope * per_particle;
  w.score_weight.reshape(M, M);
  w.pair_weight.reshape(M, M);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      const std::size_t source = parameters.score_at == ScoreAt::neighbour ? j : i;
      w.score_weight(i, source) += per_particle * w.kernel.k(i, j);
      w.pair_weight(i, j) = repulsion * w.kernel.k(i, j);
    }
  }
  add_weighted_scores<T>(w.score_weight, cloud.score, v);
  add_weighted_differences(w.pair_weight, cloud.theta, cloud.theta, v);
}

template void add_svgd<float>(const Cloud<float>&, const SvgdParameters&, Workspace<float>&, MatrixView<float>);
template void add_svgd<double>(const Cloud<double>&, const SvgdParameters&, Workspace<double>&, MatrixView<double>);

}  // namespace pits
