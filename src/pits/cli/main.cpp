// The program `pits`.
#include "pits/cli/program.h"

int main(int argc, char** argv) {
  using namespace pits::cli;
  return run_program(argc, argv, [](CLI::App& app, const Words& words, pits::Executor& executor) -> Commands {
    return {{"run", add_run(app, words, executor)},
            {"reproduce", add_reproduce(app, words, executor)},
            {"sample", add_sample(app, words)},
            {"list", add_list(app)},
            {"report", add_report(app)},
            {"data", add_data(app)},
            {"log", add_log(app)},
            {"evaluate", add_evaluate(app, words)},
            {"serve", add_serve(app)},
            {"key", add_key(app)},
            {"bench", add_bench(app)},
            {"describe", add_describe(app)}};
  });
}
