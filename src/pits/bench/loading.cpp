// From the packed file of a data set to its table.
#include "pits/bench/cases.h"
#include "pits/data/load.h"
#include "pits/data/source/locate.h"

namespace pits::bench {

std::vector<Case> loading_cases() {
  const auto body = [](benchmark::State& state) {
    const DataSet& set = find_data_set("covertype");
    if (!locate_data_file(set.files.front(), "")) {
      state.SkipWithError("covtype.data is not here; 'pits data fetch covertype' gets it");
      return;
    }
    for (auto _ : state) benchmark::DoNotOptimize(load_table(set, "").get());
  };
  return {{.name = "load/covertype", .body = body, .repetitions = 2}};
}

}  // namespace pits::bench
