// What the leading rank knows of the plan in work: which cells are open, who computes how many, its own threads.
#pragma once

#include "pits/experiment/cell_workers.h"
#include "pits/experiment/ranks.h"

namespace pits {

class Sweep {
 public:
  // threads[rank], of each rank; the first are threads of this process.
  Sweep(const Plan& plan, Results& results, const RoundsDone& done, std::vector<int> threads);

  // Gives open cells to ranks that have a thread for them.
  void hand_out(Mailbox& mail);
  bool over() { return in_work_ == 0 && !any_open(); }
  // Takes what this process has finished; false: nothing.
  bool take_own();
  // Takes a rank's letter; throws what a cell threw, or Interrupted.
  void take(const Mailbox::Received& received);
  // After an error or a stop: keeps the cells that were finished all the same.
  void abandon();
  void keep_if_finished(const Letter& letter);

 private:
  bool any_open();
  void keep(std::size_t rank, std::size_t cell, const Trajectory& trajectory);

  const Plan& plan_;
  Results& results_;
  const RoundsDone& done_;
  std::vector<int> free_;  // threads of each rank without a cell
  std::size_t next_ = 0;   // no open cell is before it
  std::size_t in_work_ = 0;
  CellWorkers own_;
};

}  // namespace pits
