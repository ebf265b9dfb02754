#include "pits/model/dropout.h"

#include <algorithm>

#include "pits/model/kernels/layer_views.h"

namespace pits {

std::size_t dropout_words(const Network& network, std::size_t B) {
  std::size_t units = 0;
  for (std::size_t l = 0; l + 1 < network.layers().size(); ++l) units += network.layers()[l].outputs;
  return units * B;
}

void set_dropout(const Network& network, double keep, std::size_t B, std::span<const std::uint32_t> words,
                 std::vector<Matrix<float>>& scale) {
  scale.resize(network.layers().size() - 1);
  const auto kept = static_cast<float>(1.0 / keep);
  const auto last = static_cast<std::uint32_t>(keep * 0x1p32 - 1.0);  // words up to here, a share of keep, stay
  for (std::size_t l = 0; l < scale.size(); ++l) {
    Matrix<float>& s = scale[l];
    if (s.rows() != network.layers()[l].outputs || s.cols() != B) s.reshape(network.layers()[l].outputs, B);
    std::ranges::transform(words.first(s.size()), s.data(), [=](std::uint32_t w) { return w <= last ? kept : 0.0F; });
    words = words.subspan(s.size());
  }
}

void evaluate_with_dropout(const Network& network, std::span<const float> theta, double keep, std::span<const float> x,
                           Stream& stream, Network::Workspace& w, std::span<float> out) {
  thread_local std::vector<std::uint32_t> words;
  words.resize(dropout_words(network, 1));
  std::ranges::generate(words, [&] { return stream.word(); });
  set_dropout(network, keep, 1, words, w.unit_scale);
  const ConstMatrixView<float> units = network.hidden(theta, ConstMatrixView<float>(x.data(), x.size(), 1), w);
  affine(network.layers().back(), theta, {units.data(), units.rows()}, out);
}

}  // namespace pits
