// Who computes the cells of a plan: the threads of this process, or all ranks of a program that mpirun started.
#pragma once

#include <string>

#include "pits/experiment/runner.h"

namespace pits {

// How a process ends, and what it says about it.
struct Ending {
  int exit_code = 0;
  std::string message{};
};
// Of the exception that is being handled.
Ending ending_of_current_exception();

// Thrown on a rank when the leading rank ends the program; there is nothing to say.
class Dismissed : public std::exception {};

// Every process of a program makes the same calls with the same plans in the same order.
class Executor {
 public:
  virtual ~Executor() = default;
  // One process leads: it owns run directories, prints and writes pages. The others only compute.
  virtual bool leads() const = 0;
  // Runs every cell that `results` does not have yet; `results` is the leader's, null elsewhere. `threads` are those of
  // one process, 0: its share of the machine. Throws on the leader what run_cells would, and on the others Dismissed;
  // several processes can only end() afterwards.
  virtual void run(const Plan& plan, Results* results, int threads, const std::atomic<bool>& stop,
                   const RoundsDone& done) = 0;
  // The last call, also after an error: the leader gets the one ending of all, the others an empty one.
  virtual Ending end(const Ending& mine) = 0;
};

// What the launcher says about a process.
struct Launch {
  int rank = 0;
  int ranks = 1;
};
// From the variables of Open MPI, PMI or PMIx; none where a process was started by itself.
std::optional<Launch> launch_from(const char* (*variable)(const char* name));
std::optional<Launch> this_launch();

// For ranks that do not know each other: an error on the first, silence on the others, so that it is said once.
std::unique_ptr<Executor> executor_without_mpi(const Launch& launch);

// The ranks under mpirun, else the threads of this process.
std::unique_ptr<Executor> make_executor();

}  // namespace pits
