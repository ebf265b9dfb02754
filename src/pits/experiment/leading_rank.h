// The rank that hands out cells, keeps the results, computes as well, and decides how the program ends.
#pragma once

#include "pits/experiment/ranks.h"

namespace pits {

class Sweep;

class LeadingRank final : public Executor {
 public:
  explicit LeadingRank(std::unique_ptr<Mailbox> mail)
      : mail_(std::move(mail)), arrived_(static_cast<std::size_t>(mail_->ranks())) {}
  bool leads() const override { return true; }
  void run(const Plan& plan, Results* results, int threads, const std::atomic<bool>& stop,
           const RoundsDone& done) override;
  Ending end(const Ending& mine) override;

 private:
  void note_arrival(Mailbox::Received& received);
  bool all_arrived();
  void check_arrived(const Plan& plan) const;
  std::vector<int> threads_of_ranks(int own) const;
  void work(Sweep& sweep, const std::atomic<bool>& stop);
  void send_to_all(const Letter& letter);
  void dismiss(bool from_program, Sweep* sweep);

  std::unique_ptr<Mailbox> mail_;
  std::vector<Letter> arrived_;  // of each rank: null, or its letter "ready" or "end"
  bool dismissed_ = false;
};

}  // namespace pits
