// Calls of a fleet's servers that wait for their answers, and the settings that tests use.
#pragma once

#include <future>

#include "fleet/cluster.h"
#include "pits/fleet/fleet.h"

namespace pits::test {

inline LiveSetup shop_setup(RewardRule rule = RewardRule::first, double window = 0.0) {
  return {.agent = "lin-ts",
          .context_size = 2,
          .actions = {"a", "b", "c"},
          .seed = 5,
          .config = {.rewards = rule, .window = window}};
}

template <class Condition>
bool comes_true(Condition&& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

inline Decided decide(FleetBandit& bandit, const std::string& key = "") {
  const std::vector<float> x{1.0F, -0.5F};
  Decided made = bandit.decider().make(x, {}, {.key = key}, nullptr, false);
  if (key.empty()) {
    bandit.write(Decided(made));
    return made;
  }
  std::promise<Decided> written;
  bandit.write(made, [&](const Decided* decided, const std::exception_ptr& error) {
    error ? written.set_exception(error) : written.set_value(*decided);
  });
  return written.get_future().get();
}

inline std::vector<Answer> reward(FleetBandit& bandit, std::vector<Reward> rewards) {
  std::promise<std::vector<Answer>> answered;
  bandit.reward(std::move(rewards), [&](std::vector<Answer> answers, const std::exception_ptr& error) {
    error ? answered.set_exception(error) : answered.set_value(std::move(answers));
  });
  return answered.get_future().get();
}

class WithServers : public WithDatabase {
 protected:
  FleetConfig config(bool learns = true, double lease = 1.0) const {
    return {.url = url, .learns = learns, .lease = lease, .model_age = 0.05};
  }
  std::unique_ptr<PostgresStore> log(const std::string& name = "shop") const {
    auto pool = std::make_shared<PostgresPool>(url);
    const BanditId id = find_bandit(*pool->take(), name).value();
    return std::make_unique<PostgresStore>(std::move(pool), id);
  }
};

}  // namespace pits::test
