// Robust units on the GPU: a column's sample is sorted by a team of threads (posterior/column_units.h has the rest).
#pragma once

#include "pits/cuda/last_layer/team.h"
#include "pits/cuda/last_layer/units.h"
#include "pits/cuda/state.cuh"

namespace pits::cuda {

// Bitonic: `size` is a power of two.
template <class Team>
PITS_HOST_DEVICE void sort_numbers(const Team& team, int size, float* x) {
  for (int run = 2; run <= size; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2) {
      for (int i = team.thread; i < size; i += team.threads) {
        const int other = i ^ step;
        if (other < i || (x[i] > x[other]) != ((i & run) == 0)) continue;
        const float moved = x[i];
        x[i] = x[other];
        x[other] = moved;
      }
      team.sync();
    }
  }
}

// Of column j of realization g, from what its history holds; `raw` (G,T,context_stride), `sample` (most_sample) is
// scratch.
template <class Team>
PITS_HOST_DEVICE void find_column(const Team& team, const GroupView& group, const float* raw, int g, int j,
                                  float* sample, ColumnUnits& out) {
  const TrainingState& training = group.training[g];
  const std::size_t held = kept(group, training), most = RobustConstants::most_sample;
  const int n = static_cast<int>(held < most ? held : most);
  int size = 1;
  while (size < n) size *= 2;
  for (int i = team.thread; i < size; i += team.threads) {
    const auto slot = static_cast<std::uint32_t>(static_cast<std::size_t>(i) * held / static_cast<std::size_t>(n));
    const std::size_t round = i < n ? round_of_slot(group, training, slot) : 0;
    const std::size_t at = (static_cast<std::size_t>(g) * group.rounds + round) * group.context_stride + j;
    sample[i] = i < n ? raw[at] : INFINITY;
  }
  team.sync();
  sort_numbers(team, size, sample);
  if (team.thread == 0) out = find_units({sample, static_cast<std::size_t>(n)});
  team.sync();
}

// Gives the level columns to the levels of the columns (d), in order, and what marks them to `marks` (count).
PITS_HOST_DEVICE inline void assign_levels(int d, int count, ColumnUnits* columns, LevelMark* marks) {
  int used = 0;
  for (int j = 0; j < d; ++j) {
    for (ColumnUnits::Level& level : columns[j].levels) {
      if (used == count) continue;
      level.column = static_cast<std::size_t>(d + used);
      marks[used++] = {j, level.value};
    }
  }
  for (; used < count; ++used) marks[used] = {-1, 0.0F};
}

// Number `column` of a context of d numbers in units, `row` as it came: numbers, level columns, 1, zeros.
PITS_HOST_DEVICE inline float context_in_units(const float* row, int column, int d, int level_columns,
                                               const ColumnUnits* columns, const LevelMark* marks) {
  if (column < d) return columns[column](row[column]);
  if (column >= d + level_columns) return column == d + level_columns ? 1.0F : 0.0F;
  const LevelMark& mark = marks[column - d];
  return mark.column >= 0 && row[mark.column] == mark.value ? 1.0F : 0.0F;
}

}  // namespace pits::cuda
