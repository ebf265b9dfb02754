// The ranks of a program. The leading one hands out cells and keeps the results; the others compute what they are sent.
// So only the leader needs the disk, and a cell lost with its rank is simply still open.
//
//   a rank to the leader   ready     has built the same plan: its config, threads and place
//                          finished  a cell's trajectory
//                          rounds    how many were done since the last letter, for the progress bar
//                          failed    a cell threw
//                          stop      has been told to stop by a signal
//                          end       has come to the end of the program, or to an error
//                          left      the last letter of a plan
//   the leader to a rank   go        all are ready
//                          cell      one to compute
//                          leave     this plan, or the program
#pragma once

#include <chrono>
#include <memory>
#include <thread>

#include "pits/experiment/executor.h"
#include "pits/experiment/mailbox.h"

namespace pits {

// The executor of this rank.
std::unique_ptr<Executor> make_rank(std::unique_ptr<Mailbox> mail);

inline bool is(const Letter& letter, const char* kind) { return letter.at("kind") == kind; }
Letter to_letter(std::size_t cell, const Trajectory& trajectory);
Trajectory trajectory_in(const Letter& letter);

// The error that ended a rank, or a cell on it.
Error error_of(int exit_code, const std::string& message);
Error error_in(const Mailbox::Received& end);

int threads_or_default(int threads, const Mailbox& mail);

// MPI's own waiting would take a whole core from those who compute.
inline void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace pits
