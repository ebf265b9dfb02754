// A thread block of a few threads of the CPU, with warps of a few lanes: what Alone cannot show, how threads share the
// work and where they must wait for each other (under the thread sanitizer, whether they do).
#pragma once

#include <barrier>
#include <memory>
#include <thread>
#include <vector>

namespace pits::cuda {

class Crew {
 public:
  static constexpr int lanes = 4;
  int thread, threads, lane, warp, warps;

  void sync() const { shared_->all.arrive_and_wait(); }
  double lane_sum(double x) const {
    Warp& mine = *shared_->warp[static_cast<std::size_t>(warp)];
    mine.value[lane] = x;
    mine.wait.arrive_and_wait();
    double sum = 0.0;
    for (int i = 0; i < lanes; ++i) sum += mine.value[i];
    mine.wait.arrive_and_wait();
    return sum;
  }

  // work(team) by all threads of a block.
  template <class Work>
  static void run(int warps, const Work& work) {
    Shared shared(warps);
    std::vector<std::jthread> crew;
    for (int t = 0; t < lanes * warps; ++t) crew.emplace_back([&, t] { work(Crew(t, warps, &shared)); });
  }

 private:
  struct Warp {
    std::barrier<> wait{lanes};
    double value[lanes]{};
  };
  struct Shared {
    std::barrier<> all;
    std::vector<std::unique_ptr<Warp>> warp;
    explicit Shared(int warps) : all(lanes * warps) {
      for (int w = 0; w < warps; ++w) warp.push_back(std::make_unique<Warp>());
    }
  };

  Crew(int t, int w, Shared* shared)
      : thread(t), threads(lanes * w), lane(t % lanes), warp(t / lanes), warps(w), shared_(shared) {}

  Shared* shared_;
};

}  // namespace pits::cuda
