// Who computes the cells of a plan: the threads of this process, or all ranks of a program that mpirun started.
#pragma once

#include <atomic>
#include <string>

#include "pits/experiment/results.h"

namespace pits {

// Thrown when `stop` is raised while cells run; finished cells are kept.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// Thrown on a worker rank when the coordinator ends the program; there is nothing to say.
class Shutdown : public std::exception {};

// How a process ends, and what it says about it.
struct ExitStatus {
  int exit_code = 0;
  std::string message{};
};
// Of the exception that is being handled.
ExitStatus status_of_current_exception();

// Every process of a program makes the same calls with the same plans in the same order.
class Executor {
 public:
  virtual ~Executor() = default;
  // One process leads: it owns run directories, prints and writes pages. The others only compute.
  virtual bool leads() const = 0;
  // Runs every cell that `results` does not have yet; `results` is the leader's, null elsewhere. `threads` are those of
  // one process, 0: its share of the machine. `done` is called from many threads. Throws on the leader what a cell
  // threw, or Interrupted, and Shutdown on the others; several processes can only end() afterwards.
  virtual void run(const Plan& plan, Results* results, int threads, const std::atomic<bool>& stop,
                   const RoundsDone& done) = 0;
  // The last call, also after an error: the leader gets the one status of all, the others an empty one.
  virtual ExitStatus end(const ExitStatus& mine) = 0;
};

// On the threads of this process alone.
void run_cells(const Plan& plan, Results& results, int threads, const std::atomic<bool>& stop, const RoundsDone& done);

// What the launcher says about a process.
struct Launch {
  int rank = 0;
  int ranks = 1;
};
// From the variables of Open MPI, PMI or PMIx; none where a process was started by itself.
std::optional<Launch> launch_from(const char* (*variable)(const char* name));
std::optional<Launch> this_launch();

// For ranks that cannot reach each other: an error on the first, Shutdown on the others, so that it is said once.
[[noreturn]] void refuse_ranks(const Launch& launch);

// The ranks under mpirun, else the threads of this process.
std::unique_ptr<Executor> make_executor();

}  // namespace pits
