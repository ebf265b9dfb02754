// The program: parses, runs one subcommand, and turns errors into one line on stderr and the documented exit code.
#include <fmt/format.h>

#include <cstdlib>

#include "pits/cli/commands.h"
#include "pits/core/error.h"
#include "pits/core/kernels.h"
#include "pits/version.h"

namespace {

int run_command(int argc, char** argv) {
  const pits::cli::Words words = [&] {
    pits::cli::Words w(argv, argv + argc);
    w.front() = "pits";
    return w;
  }();
  CLI::App app("pits: particle-interactive Thompson sampling");
  app.set_version_flag("--version", std::string("pits ") + pits::version);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 bad data or config, 130 interrupted.\n"
      "Example:\n  pits run --agent lin-ts --env linear");
  const std::vector<std::pair<std::string, std::function<int()>>> commands = {
      {"run", pits::cli::add_run(app, words)},
      {"sample", pits::cli::add_sample(app, words)},
      {"list", pits::cli::add_list(app)},
      {"report", pits::cli::add_report(app)}};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    throw pits::bad_usage("{} ('pits {}--help' says how)", e.what(),
                          app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name() + " ");
  }
  if (const char* target = std::getenv("PITS_SIMD"); target != nullptr) pits::force_simd_target(target);
  for (const auto& [name, action] : commands) {
    if (app.got_subcommand(name)) return action();
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command(argc, argv);
  } catch (const pits::Error& e) {
    fmt::print(stderr, "pits: {}\n", e.what());
    return e.exit_code();
  } catch (const std::exception& e) {
    fmt::print(stderr, "pits: {}\n", e.what());
    return 1;
  }
}
