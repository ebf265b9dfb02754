// The program: parses, runs one subcommand, and turns errors into one line on stderr and the documented exit code.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "pits/cli/commands.h"
#include "pits/cli/usage.h"
#include "pits/core/error.h"
#include "pits/core/kernels.h"
#include "pits/version.h"

namespace {

void force_wanted_simd_target() {
  const char* target = std::getenv("PITS_SIMD");
  if (target == nullptr) return;
  try {
    pits::force_simd_target(target);
  } catch (const pits::Error& e) {
    throw pits::bad_input("PITS_SIMD: {}", e.what());
  }
}

// Results that did not reach a full disk or a closed pipe are a failure.
int after_flushing(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  throw pits::failed("cannot write to the standard output: {}", std::strerror(errno));
}

int run_command(int argc, char** argv) {
  const pits::cli::Words words = [&] {
    pits::cli::Words w(argv, argv + argc);
    w.front() = "pits";
    return w;
  }();
  CLI::App app("particle-interactive Thompson sampling", "pits");
  app.set_version_flag("--version", std::string("pits ") + pits::version);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 bad data or config, 130 interrupted.\n"
      "Example:\n  pits run --agent lin-ts --env linear");
  const std::vector<std::pair<std::string, std::function<int()>>> commands = {
      {"run", pits::cli::add_run(app, words)},
      {"sample", pits::cli::add_sample(app, words)},
      {"list", pits::cli::add_list(app)},
      {"report", pits::cli::add_report(app)},
      {"data", pits::cli::add_data(app)}};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    throw pits::bad_usage("{}", pits::cli::explain(app, e));
  }
  force_wanted_simd_target();
  for (const auto& [name, action] : commands) {
    if (app.got_subcommand(name)) return action();
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return after_flushing(run_command(argc, argv));
  } catch (const pits::Error& e) {
    fmt::print(stderr, "pits: {}\n", e.what());
    return e.exit_code();
  } catch (const std::filesystem::filesystem_error& e) {
    fmt::print(stderr, "pits: '{}': {}\n", e.path1().string(), e.code().message());
    return pits::bad_input("").exit_code();
  } catch (const std::exception& e) {
    fmt::print(stderr, "pits: {}\n", e.what());
    return 1;
  }
}
