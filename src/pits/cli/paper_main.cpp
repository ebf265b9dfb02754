// The program with the commands of the paper's table alone: scripts/quickstart builds and runs it before the rest.
#include "pits/cli/program.h"

int main(int argc, char** argv) {
  using namespace pits::cli;
  return run_program(argc, argv, [](CLI::App& app, const Words& words, pits::Executor& executor) -> Commands {
    return {{"reproduce", add_reproduce(app, words, executor)}, {"data", add_data(app)}};
  });
}
