// A network that gets more outputs: where its parameters lie then, and blocks of numbers that follow them.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/model/network.h"

namespace pits {

// Entry j: the place that parameter j had before the growth, or `fresh`.
using ParameterMap = std::vector<std::size_t>;
inline constexpr std::size_t fresh = std::numeric_limits<std::size_t>::max();

// Output h·K + a of head h becomes h·(K + added) + a; `outputs` counts those of all heads before.
ParameterMap grown_outputs(std::size_t outputs, std::size_t added, std::size_t heads);
// Of a network with these layers before and after; both differ in their last layer's outputs only.
ParameterMap grown_parameters(const Network& before, const Network& after, std::span<const std::size_t> outputs);
// The map of `second` behind that of `first`, which had `size` entries before.
ParameterMap appended(ParameterMap first, std::size_t size, std::span<const std::size_t> second);

// The block (M, P before) with its columns where the map says; fresh ones are those of `start`, (M, P after). An empty
// block stays empty.
template <class T>
Matrix<T> grown(const Matrix<T>& block, std::span<const std::size_t> map, ConstMatrixView<T> start) {
  if (block.size() == 0) return {};
  Matrix<T> after(block.rows(), map.size());
  for (std::size_t i = 0; i < after.rows(); ++i) {
    for (std::size_t j = 0; j < map.size(); ++j) after(i, j) = map[j] == fresh ? start(i, j) : block(i, map[j]);
  }
  return after;
}

}  // namespace pits
