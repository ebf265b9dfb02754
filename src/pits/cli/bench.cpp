// pits bench: how fast it is here, beside references measured in the same run.
#include "pits/cli/commands.h"
#include "pits/core/error.h"

#ifdef PITS_BENCH
#include <fmt/format.h>

#include "pits/bench/bench.h"
#endif

namespace pits::cli {
namespace {

struct BenchOptions {
  std::string filter = ".";
  bool quick = false;
  bool json = false;
};

#ifdef PITS_BENCH
int bench(const BenchOptions& options) {
  const bench::Report report = bench::run({.filter = options.filter, .quick = options.quick});
  if (!options.json) {
    fmt::print("{}", bench::as_text(report));
    return 0;
  }
  for (const auto& line : bench::as_json(report)) fmt::print("{}\n", line.dump());
  return 0;
}
#else
int bench(const BenchOptions&) {
  throw failed(
      "this program was built without Google Benchmark (Debian: libbenchmark-dev); install it and build again");
}
#endif

}  // namespace

std::function<int()> add_bench(CLI::App& app) {
  auto* command = app.add_subcommand("bench", "Measure the speed beside sgemm, plain loops and PyTorch");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("--filter", options->filter, "only what this regular expression is found in, e.g. update/d=54");
  command->add_flag("--quick", options->quick, "one short repetition: whether it works, not how fast it is");
  command->add_flag("--json", options->json, "one JSON object per line, the references first");
  command->footer("Example:\n  pits bench --filter decision/d=54 --quick");
  return [options] { return bench(*options); };
}

}  // namespace pits::cli
