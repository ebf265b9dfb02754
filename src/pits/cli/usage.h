// Turns a parse error into one line that names the wrong word and says what would be right.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace pits::cli {

std::string explain(const CLI::App& app, const CLI::ParseError& error);

}  // namespace pits::cli
