// A problem of a data set, and its rounds.
#pragma once

#include "pits/environment/table_environment.h"

namespace pits::test {

// `standardise` where it is not the data set's own.
inline TableEnvironment data_problem(std::string_view set, const EnvironmentSetup& setup,
                                     std::optional<Standardise> standardise = {}) {
  TableConfig config = table_config(find_data_set(set));
  if (standardise) config.rows.standardise = *standardise;
  return {config, setup};
}

inline Round round_of(const Environment& problem, std::size_t t) {
  Round round;
  problem.draw(t, round);
  return round;
}

}  // namespace pits::test
