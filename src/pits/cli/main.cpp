// The program: parses, runs one subcommand, and turns errors into one line on stderr and the documented exit code.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <system_error>

#include "pits/cli/commands.h"
#include "pits/cli/device.h"
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

// Results that did not reach a full disk or a closed pipe are a failure, found when the buffer is full or at the end.
int flushed(const std::function<int()>& command) {
  std::string reason;
  try {
    const int exit_code = command();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
    reason = std::strerror(errno);
  } catch (const std::system_error& e) {
    if (std::ferror(stdout) == 0) throw;
    reason = e.code().message();
  }
  throw pits::failed("cannot write to the standard output: {}", reason);
}

int run_command(int argc, char** argv, pits::Executor& executor) {
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
      {"run", pits::cli::add_run(app, words, executor)},
      {"reproduce", pits::cli::add_reproduce(app, words, executor)},
      {"sample", pits::cli::add_sample(app, words)},
      {"list", pits::cli::add_list(app)},
      {"report", pits::cli::add_report(app)},
      {"data", pits::cli::add_data(app)},
      {"bench", pits::cli::add_bench(app)}};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return executor.leads() ? app.exit(e) : 0;  // --help, --version
    throw pits::bad_usage("{}", pits::cli::explain(app, e));
  }
  force_wanted_simd_target();
  for (const auto& [name, action] : commands) {
    if (!app.got_subcommand(name)) continue;
    const bool for_many_ranks = name == "run" || name == "reproduce";
    if (!for_many_ranks && !executor.leads()) return 0;
    return action();
  }
  return 2;
}

int say(const pits::Ending& ending) {
  if (!ending.message.empty()) fmt::print(stderr, "pits: {}\n", ending.message);
  return ending.exit_code;
}

pits::Ending ending_of(int argc, char** argv, pits::Executor& executor) {
  try {
    return {.exit_code = flushed([&] { return run_command(argc, argv, executor); })};
  } catch (...) {
    return pits::ending_of_current_exception();
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto executor = pits::cli::make_executor_with_card();
    return say(executor->end(ending_of(argc, argv, *executor)));
  } catch (...) {
    return say(pits::ending_of_current_exception());
  }
}
