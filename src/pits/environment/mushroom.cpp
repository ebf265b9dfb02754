#include "pits/environment/mushroom.h"

#include "pits/core/random.h"
#include "pits/data/benchmark.h"

namespace pits {
namespace {

constexpr double good_meal = 5.0;
constexpr double poisoned = -35.0;
constexpr std::uint32_t edible = 0;  // of the sorted classes e, p

}  // namespace

Fields fields(MushroomConfig& c) {
  return Fields{}.add("standardise", c.standardise,
                      "rows: mean 0 and std 1 over the rows of a realization; none: as they are");
}

Mushroom::Mushroom(const MushroomConfig& config, const EnvironmentSetup& setup)
    : setup_(setup),
      table_(mushroom_table(setup.data_dir)),
      contexts_(table_->contexts, {.standardise = checked(config).standardise, .replace = true}, setup) {}

void Mushroom::draw(std::size_t t, Round& round) const {
  const std::size_t row = contexts_.row(t);
  contexts_.fill(row, round.context);
  if (table_->labels[row] == edible) {
    round.rewards = {0.0, good_meal};
    round.mean_rewards = round.rewards;
    return;
  }
  Stream coin({setup_.seed, setup_.realization, Purpose::environment_reward, static_cast<std::uint32_t>(t)});
  round.rewards = {0.0, coin.index(2) == 0 ? poisoned : good_meal};
  round.mean_rewards = {0.0, 0.5 * (poisoned + good_meal)};
}

}  // namespace pits
