#include "pits/posterior/column_units.h"

#include "pits/core/io/archive.h"

namespace pits {

void state(Archive& archive, ColumnUnits::Levels& levels) {
  levels.count = archive.count(levels.count, 1);
  if (levels.count > ColumnUnits::Levels::most) {
    throw bad_input("a saved column has at most {} levels, not {}", ColumnUnits::Levels::most, levels.count);
  }
  for (ColumnUnits::Level& level : levels) archive(level);
}

}  // namespace pits
