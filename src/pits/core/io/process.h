// A child process and what it writes.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace pits {

struct ProcessResult {
  std::string output;  // all that it wrote to its standard output
  int exit_code;       // 128 + the number of the signal that ended it, as shells count
};

// Runs a program, looked for on the PATH, with the words as its arguments (the first is the program). Its standard
// input is empty and its standard error is thrown away. None where it takes longer than `limit`. Whatever it has
// started itself is killed when it ends or the limit is over. A program that cannot be started is an Error.
std::optional<ProcessResult> run_process(const std::vector<std::string>& words, std::chrono::seconds limit);

}  // namespace pits
