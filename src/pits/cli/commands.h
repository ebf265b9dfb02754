// The subcommands of `pits`. Each adds itself to the command line and runs when it was named.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "pits/experiment/executor.h"

namespace pits::cli {

// The words the program was started with, for the record of a run.
using Words = std::vector<std::string>;

// Each returns the action to take when its subcommand was parsed; the result is the exit code.
std::function<int()> add_run(CLI::App& app, const Words& words, Executor& executor);
std::function<int()> add_reproduce(CLI::App& app, const Words& words, Executor& executor);
std::function<int()> add_sample(CLI::App& app, const Words& words);
std::function<int()> add_list(CLI::App& app);
std::function<int()> add_report(CLI::App& app);
std::function<int()> add_data(CLI::App& app);
std::function<int()> add_bench(CLI::App& app);

}  // namespace pits::cli
