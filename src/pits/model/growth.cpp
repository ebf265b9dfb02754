#include "pits/model/growth.h"

namespace pits {

ParameterMap grown_outputs(std::size_t outputs, std::size_t added, std::size_t heads) {
  const std::size_t K = outputs / heads;
  ParameterMap map;
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t a = 0; a < K + added; ++a) map.push_back(a < K ? h * K + a : fresh);
  }
  return map;
}

ParameterMap grown_parameters(const Network& before, const Network& after, std::span<const std::size_t> outputs) {
  const Layer& old = before.layers().back();
  ParameterMap map(after.parameters(), fresh);
  for (std::size_t j = 0; j < old.weights; ++j) map[j] = j;  // the layers before
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o] == fresh) continue;
    const Layer& last = after.layers().back();
    for (std::size_t i = 0; i < old.inputs; ++i) {
      map[last.weights + o * old.inputs + i] = old.weights + outputs[o] * old.inputs + i;
    }
    map[last.biases + o] = old.biases + outputs[o];
  }
  return map;
}

ParameterMap appended(ParameterMap first, std::size_t size, std::span<const std::size_t> second) {
  for (const std::size_t j : second) first.push_back(j == fresh ? fresh : size + j);
  return first;
}

}  // namespace pits
