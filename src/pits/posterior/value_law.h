// The distribution of a sampled value.
#pragma once

namespace pits {

// mean + scale·T, T standard normal or Student with `freedom` degrees.
struct ValueLaw {
  double mean = 0.0;
  double scale = 0.0;    // 0: always the mean
  double freedom = 0.0;  // 0: normal
};

}  // namespace pits
