// Values of several contexts that were computed together, for one thread that asks for them one by one.
#pragma once

#include "pits/posterior/posterior.h"

namespace pits {

// While it lives, all_values() of the posterior at these contexts is there already, on this thread. Contexts are known
// by where they lie: they and the posterior stay as they are meanwhile. One at a time.
class PreparedValues {
 public:
  // Of a mixture.
  PreparedValues(const Posterior& posterior, std::span<const std::span<const float>> contexts);
  ~PreparedValues();
  PreparedValues(const PreparedValues&) = delete;
  PreparedValues& operator=(const PreparedValues&) = delete;

  // Null: nobody has prepared them.
  static const Matrix<float>* find(const Posterior& posterior, std::span<const float> x);
};

}  // namespace pits
