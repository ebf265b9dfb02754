// What the ranks of a program tell each other. The coordinator hands out cells and keeps the results; workers compute
// what they are sent. So only the coordinator needs the disk, and a cell lost with its rank is simply still open.
//
//   worker to coordinator   ready     has built the same plan: its config, threads and host
//                           finished  a cell's trajectory
//                           rounds    how many were done since the last message, for the progress bar
//                           failed    a cell threw
//                           stop      has been told to stop by a signal
//                           end       has come to the end of the program, or to an error
//                           left      the last message of a plan
//   coordinator to worker   go        all are ready
//                           cell      one to compute, and on how many threads
//                           leave     this plan, or the program
#pragma once

#include <chrono>
#include <thread>

#include "pits/core/error.h"
#include "pits/experiment/loop.h"
#include "pits/experiment/ranks/channel.h"

namespace pits {

inline bool is(const Message& message, const char* kind) { return message.at("kind") == kind; }
Message finished_message(std::size_t cell, const Trajectory& trajectory);
Trajectory trajectory_in(const Message& message);

// The error that ended a rank, or a cell on it.
Error error_of(int exit_code, const std::string& message);
Error error_in(const Channel::Received& end);

// MPI's own waiting would take a whole core from those who compute.
inline void wait_for_messages() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace pits
