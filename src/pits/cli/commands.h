// The subcommands of `pits`, one file each.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "pits/experiment/ranks/executor.h"

namespace pits::cli {

// The words of the command line, for the record of a run.
using Words = std::vector<std::string>;

// Each adds its subcommand and returns the function that runs it, whose result is the exit code.
std::function<int()> add_run(CLI::App& app, const Words& words, Executor& executor);
std::function<int()> add_reproduce(CLI::App& app, const Words& words, Executor& executor);
std::function<int()> add_sample(CLI::App& app, const Words& words);
std::function<int()> add_list(CLI::App& app);
std::function<int()> add_report(CLI::App& app);
std::function<int()> add_data(CLI::App& app);
std::function<int()> add_log(CLI::App& app);
std::function<int()> add_evaluate(CLI::App& app, const Words& words);
std::function<int()> add_serve(CLI::App& app);
std::function<int()> add_key(CLI::App& app);
std::function<int()> add_bench(CLI::App& app);
std::function<int()> add_describe(CLI::App& app);

}  // namespace pits::cli
