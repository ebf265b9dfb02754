// A command line that does not parse, as one line that names the word at fault and what would be right.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace pits::cli {

std::string explain(const CLI::App& app, const CLI::ParseError& error);

}  // namespace pits::cli
