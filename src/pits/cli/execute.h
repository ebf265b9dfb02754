// What the commands that run plans share: threads, progress, output.
#pragma once

#include <cstdint>

#include "pits/cli/terminal.h"
#include "pits/experiment/results.h"
#include "pits/report/reproduction_report.h"

namespace pits::cli {

// As given by --threads; 0 is all of the machine.
int checked_threads(std::int64_t threads);

// Rounds of all cells, and of those that are there already.
std::size_t all_rounds(const Plan& plan);
std::size_t finished_rounds(const Plan& plan, const Results& results);

// Tables, what was left out, and where the page is; or one JSON object a line.
void print_reproduction(const Reproduction& r, const std::filesystem::path& directory, bool json);

// A Progress that takes its line away also when an exception ends the work.
class ShownProgress {
 public:
  ShownProgress(std::size_t total_rounds, std::size_t done_before) : progress_(total_rounds, done_before) {}
  ~ShownProgress() { progress_.finish(); }
  ShownProgress(const ShownProgress&) = delete;
  ShownProgress& operator=(const ShownProgress&) = delete;

  void add(std::size_t rounds) const { progress_.add(rounds); }

 private:
  mutable Progress progress_;
};

}  // namespace pits::cli
