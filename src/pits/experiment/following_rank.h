// A rank that computes the cells it is sent.
#pragma once

#include "pits/experiment/cell_workers.h"
#include "pits/experiment/ranks.h"

namespace pits {

class FollowingRank final : public Executor {
 public:
  explicit FollowingRank(std::unique_ptr<Mailbox> mail) : mail_(std::move(mail)) {}
  bool leads() const override { return false; }
  void run(const Plan& plan, Results* results, int threads, const std::atomic<bool>& stop,
           const RoundsDone& done) override;
  Ending end(const Ending& mine) override;

 private:
  Letter wait();
  void compute_until_told(CellWorkers& workers, const std::atomic<bool>& stop);
  void send_finished(CellWorkers& workers);
  void send_rounds(std::size_t rounds);
  void leave(const Letter& letter);

  std::unique_ptr<Mailbox> mail_;
  std::chrono::steady_clock::time_point rounds_sent_{};
  bool dismissed_ = false;
};

}  // namespace pits
