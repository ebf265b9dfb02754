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

// May take as long as the machine needs, and patience lets it.
inline bool answers_again(FleetBandit& bandit, const std::string& key) {
  return comes_true([&] {
    try {
      return decide(bandit, key).key == key;
    } catch (const Error&) {
      return false;
    }
  });
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
