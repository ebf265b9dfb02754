#include "pits/flow/svgd.h"

namespace pits {

const std::vector<std::string>& EnumNames<ScoreAt>::names() {
  static const std::vector<std::string> names = {"neighbour", "own"};
  return names;
}

template <class T>
void add_svgd(const Cloud<T>& cloud, const SvgdParameters& parameters, Workspace<T>& w, Velocity<T>& v) {
  const std::size_t M = cloud.theta.rows();
  const T per_particle = T{1} / static_cast<T>(M);
  const T repulsion = static_cast<T>(parameters.entropy) * w.kernel.slope * per_particle;
  Matrix<T>& score_weight = v.add_weighted_scores(M);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      const std::size_t source = parameters.score_at == ScoreAt::neighbour ? j : i;
      score_weight(i, source) += per_particle * w.kernel.k(i, j);
    }
  }
  Matrix<T>& pair_weight = v.add_differences(M);
  for (std::size_t i = 0; i < M * M; ++i) pair_weight.data()[i] = repulsion * w.kernel.k.data()[i];
}

template void add_svgd<float>(const Cloud<float>&, const SvgdParameters&, Workspace<float>&, Velocity<float>&);
template void add_svgd<double>(const Cloud<double>&, const SvgdParameters&, Workspace<double>&, Velocity<double>&);

}  // namespace pits
