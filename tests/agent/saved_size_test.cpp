// What the default saves: so many bytes, and no more of them after more rewards than the history needs.
#include <gtest/gtest.h>

#include "agent/play.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 20, K = 12;

std::size_t saved_bytes(std::size_t n) {
  const auto agent = find_recipe(agent_catalogue(), "agent", parse_spec("pi-ts"))
                         ->make({.context_size = d, .actions = K, .seed = 1, .realization = 0});
  learn_all(*agent, random_events(n, 2, d, K));
  Archive archive;
  agent->archive(archive);
  return archive.bytes().size();
}

// In numbers of 4 bytes, by docs/regret.md: M = 5 networks of H = 50 units, S = 20 draws, z of d + 4 numbers.
std::size_t closed_form(std::size_t n) {
  constexpr std::size_t M = 5, H = 50, S = 20, z = d + 4, network = z * H + H + H * K + K, F = H + z + 1, L = z + 1;
  const std::size_t networks = 3 * M * network;  // and two moments of Adam
  const std::size_t covariances = M * K * F * F + K * L * L;
  const std::size_t draws = (S + 1) * K * (M * F + L);              // and means
  const std::size_t memories = 2 * K * 4 * (21 * 21 + 21 + 1 + 1);  // doubles, of 20 numbers and 1, and of 1
  return 4 * (networks + covariances + draws + memories + n * (d + 2));
}

TEST(SavedSize, IsTheClosedFormAndTheHistory) {
  for (const std::size_t n : {200U, 1000U}) {
    const auto bytes = static_cast<double>(saved_bytes(n)), expected = static_cast<double>(closed_form(n));
    EXPECT_LT(bytes, 1.01 * expected) << n;
    EXPECT_GT(bytes, 0.99 * expected) << n;
  }
}

}  // namespace
}  // namespace pits::test
