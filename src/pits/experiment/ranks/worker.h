// A rank that computes the cells it is sent.
#pragma once

#include "pits/experiment/ranks/channel.h"
#include "pits/experiment/ranks/executor.h"

namespace pits {

class Worker final : public Executor {
 public:
  explicit Worker(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}
  bool leads() const override { return false; }
  void run(const Plan& plan, Results* results, int threads, const std::atomic<bool>& stop,
           const RoundsDone& done) override;
  ExitStatus end(const ExitStatus& mine) override;

 private:
  Message wait();
  void compute(const Plan& plan, int threads, const std::atomic<bool>& stop);
  void leave(const Message& message);

  std::unique_ptr<Channel> channel_;
  bool dismissed_ = false;
};

}  // namespace pits
