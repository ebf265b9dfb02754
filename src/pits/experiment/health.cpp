#include "pits/experiment/health.h"

namespace pits {

std::size_t collapsed_since(const Health& health) {
  std::size_t since = 0;
  for (auto point = health.points.rbegin(); point != health.points.rend() && point->collapsed(); ++point) {
    since = point->round;
  }
  return since;
}

}  // namespace pits
