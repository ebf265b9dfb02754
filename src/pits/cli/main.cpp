// The program: parses the command line, runs one subcommand, and turns errors into one line on stderr and the
// documented exit code.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <system_error>

#include "pits/cli/commands.h"
#include "pits/cli/device.h"
#include "pits/cli/terminal.h"
#include "pits/cli/usage.h"
#include "pits/core/error.h"
#include "pits/core/simd/kernels.h"
#include "pits/version.h"

namespace {

// Results that could not be written (a full disk, a closed stdout) are a failure, found when the buffer is full or at
// the end.
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
      {"log", pits::cli::add_log(app)},
      {"evaluate", pits::cli::add_evaluate(app, words)},
      {"serve", pits::cli::add_serve(app)},
      {"key", pits::cli::add_key(app)},
      {"bench", pits::cli::add_bench(app)}};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return executor.leads() ? app.exit(e) : 0;  // --help, --version
    throw pits::bad_usage("{}", pits::cli::explain(app, e));
  }
  pits::force_simd_target_of_environment();
  for (const auto& [name, action] : commands) {
    if (!app.got_subcommand(name)) continue;
    const bool for_many_ranks = name == "run" || name == "reproduce";
    if (!for_many_ranks && !executor.leads()) return 0;
    return action();
  }
  return 2;
}

int say(const pits::ExitStatus& status) {
  if (!status.message.empty()) pits::cli::note("pits: {}\n", status.message);
  return status.exit_code;
}

pits::ExitStatus status_of(int argc, char** argv, pits::Executor& executor) {
  try {
    return {.exit_code = flushed([&] { return run_command(argc, argv, executor); })};
  } catch (...) {
    return pits::status_of_current_exception();
  }
}

}  // namespace

int main(int argc, char** argv) {
  pits::cli::open_standard_streams();
  try {
    const auto executor = pits::cli::make_executor_with_gpu();
    return say(executor->end(status_of(argc, argv, *executor)));
  } catch (...) {
    return say(pits::status_of_current_exception());
  }
}
