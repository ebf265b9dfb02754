// The program around its subcommands: parses the command line, runs one of them, and turns errors into one line on
// stderr and the documented exit code.
#pragma once

#include <utility>

#include "pits/cli/commands.h"

namespace pits::cli {

// The names of the subcommands, each with the function that runs it.
using Commands = std::vector<std::pair<std::string, std::function<int()>>>;
using AddCommands = std::function<Commands(CLI::App& app, const Words& words, Executor& executor)>;

int run_program(int argc, char** argv, const AddCommands& add);

}  // namespace pits::cli
