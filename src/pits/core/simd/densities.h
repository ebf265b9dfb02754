// The density of a normal or Student value at the nodes of a piece of the line, and how much of it lies below them.
#pragma once

#include <array>
#include <cstddef>

namespace pits {

inline constexpr std::size_t piece_nodes = 8;
using PieceRow = std::array<double, piece_nodes>;

// Nodes x_j in −1..1; above[j][i] = ∫ from x_i to 1 of the polynomial that is 1 at x_j, 0 at the others.
struct PieceRule {
  PieceRow x;
  std::array<PieceRow, piece_nodes> above;
};

// mean + scale·T, T standard normal or Student with `freedom` degrees.
struct PieceLaw {
  double mean = 0.0, scale = 1.0;
  double freedom = 0.0;  // 0: normal
  double factor = 0.0;   // the density at the mean
  double tail = 0.0;     // the probability of what is above the piece
};

// The piece is centre ± half. f_j: half·density at centre + half·x_j. F_j: the probability of what is below that.
void find_densities(const PieceLaw& law, double centre, double half, const PieceRule& rule, PieceRow& f, PieceRow& F);

}  // namespace pits
