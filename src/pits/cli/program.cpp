#include "pits/cli/program.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <system_error>

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

int run_command(int argc, char** argv, pits::Executor& executor, const pits::cli::AddCommands& add) {
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
  const pits::cli::Commands commands = add(app, words, executor);
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

}  // namespace

namespace pits::cli {

int run_program(int argc, char** argv, const AddCommands& add) {
  open_standard_streams();
  try {
    const auto executor = make_executor_with_gpu();
    ExitStatus status;
    try {
      status.exit_code = flushed([&] { return run_command(argc, argv, *executor, add); });
    } catch (...) {
      status = status_of_current_exception();
    }
    return say(executor->end(status));
  } catch (...) {
    return say(status_of_current_exception());
  }
}

}  // namespace pits::cli
