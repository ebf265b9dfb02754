// The units of contexts' columns.
#pragma once

#include "pits/cuda/last_layer/reward_units.h"
#include "pits/posterior/column_units.h"

namespace pits::cuda {

PITS_HOST_DEVICE inline ColumnUnits plain_units(const Moments& m, double count) {
  const double factor = 1.0 / scale_of(m.variance(count));
  return {.centre = m.mean, .factor = factor};
}

// A level column: it is 1 where a context has this value in this column.
struct LevelMark {
  std::int32_t column;  // negative: none
  float value;
};

}  // namespace pits::cuda
