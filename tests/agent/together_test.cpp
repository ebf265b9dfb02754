// Decisions that are computed together are those that are computed one by one, to the bit.
#include "pits/agent/together.h"

#include <gtest/gtest.h>

#include "agent/play.h"
#include "pits/core/simd/kernels.h"

namespace pits::test {
namespace {

struct Answer {
  std::vector<float> p;
  Action action;
  bool operator==(const Answer&) const = default;
};

Answer ask(const Agent& agent, const std::vector<float>& x, DecisionId id) {
  Answer answer{.p = std::vector<float>(action_count), .action = 0};
  agent.propensities({.x = x, .id = id}, 1, answer.p, 0, &answer.action);
  return answer;
}

class Together : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(""); }

  // Contexts of events that it has not learned.
  static std::vector<std::vector<float>> contexts() {
    std::vector<std::vector<float>> xs;
    for (const Event& event : random_events(60, 5)) xs.push_back(event.x);
    return xs;
  }
};

TEST_P(Together, GivesTheSameBits) {
  const std::vector<std::vector<float>> xs = contexts();
  for (const std::string spec : {"pi-ts", "pi-ts,optimistic=false", "pi-ts:paper", "pi-ts:exact"}) {
    const auto agent = small_agent(spec, small_setup());
    const auto* together = dynamic_cast<const DecidesTogether*>(agent.get());
    ASSERT_NE(together, nullptr);
    for (const Event& event : random_events(60, 3)) {
      const Feedback feedback = event.feedback();
      agent->learn({&feedback, 1});
    }
    for (std::size_t n = 1, first = 0; first + n <= xs.size(); first += n, n = n % 7 + 1) {
      std::vector<Answer> alone;
      for (std::size_t i = first; i < first + n; ++i) alone.push_back(ask(*agent, xs[i], i));
      const std::vector<ContextView> views(xs.begin() + static_cast<std::ptrdiff_t>(first),
                                           xs.begin() + static_cast<std::ptrdiff_t>(first + n));
      const std::shared_ptr<void> prepared = together->prepare(views);
      EXPECT_EQ(prepared != nullptr, n > 1 && spec.starts_with("pi-ts") && spec.find(':') == spec.npos) << spec;
      for (std::size_t i = first; i < first + n; ++i) EXPECT_EQ(ask(*agent, xs[i], i), alone[i - first]) << spec;
      EXPECT_EQ(ask(*agent, xs[(first + n) % xs.size()], 1000), ask(*agent, xs[(first + n) % xs.size()], 1000));
    }
  }
}

// What was prepared is of one agent, and ends with the result of prepare().
TEST_P(Together, IsOfOneAgentAndEnds) {
  const auto first = small_agent("pi-ts", small_setup(1)), second = small_agent("pi-ts", small_setup(2));
  for (Agent* agent : {first.get(), second.get()}) {
    for (const Event& event : random_events(60, 3)) {
      const Feedback feedback = event.feedback();
      agent->learn({&feedback, 1});
    }
  }
  std::vector<std::vector<float>> xs = contexts();
  const Answer other = ask(*second, xs[0], 7);
  {
    const std::vector<ContextView> views{xs[0], xs[1]};
    const auto prepared = dynamic_cast<const DecidesTogether&>(*first).prepare(views);
    EXPECT_EQ(ask(*second, xs[0], 7), other);
  }
  const Answer expected = ask(*first, std::vector<float>(xs[2]), 7);
  xs[0] = xs[2];  // in the same place
  EXPECT_EQ(ask(*first, xs[0], 7), expected);
}

INSTANTIATE_TEST_SUITE_P(Targets, Together, testing::ValuesIn(simd_targets()),
                         [](const auto& param_info) { return param_info.param; });

}  // namespace
}  // namespace pits::test
