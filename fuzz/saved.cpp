// The loader of saved bandits, behind a checksum that is always right.
#include "bandit/exercise.h"
#include "fuzz/target.h"

namespace pits::fuzz {

bool reads(std::string_view bytes) {
  try {
    Bandit bandit = Bandit::from_saved(sealed("bandit", bytes), "file");
    test::exercise(bandit);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace pits::fuzz
