// Every agent of the catalogue, saved in the middle of a run and loaded, goes on bit for bit as if never stopped; and
// no damaged file gives an agent.
#include <gtest/gtest.h>

#include "bandit/small_bandit.h"
#include "experiment/expect_error.h"
#include "experiment/scratch.h"

namespace pits::test {
namespace {

class SavedAgent : public testing::TestWithParam<std::string> {};

TEST_P(SavedAgent, GoesOnBitForBit) {
  const Scratch scratch;
  for (const std::size_t stop : {0U, 3U, 15U, 47U}) {
    Bandit undisturbed(small_spec(GetParam()), small_setup());
    play(undisturbed, 0, stop);
    undisturbed.save(scratch / "agent.pits");
    Bandit loaded = Bandit::load(scratch / "agent.pits");
    EXPECT_EQ(loaded.describe(), undisturbed.describe());
    EXPECT_EQ(loaded.pending(), undisturbed.pending());
    EXPECT_EQ(loaded.saved(), undisturbed.saved());
    EXPECT_EQ(play(loaded, stop, 120), play(undisturbed, stop, 120)) << "stopped after " << stop;
    EXPECT_EQ(loaded.saved(), undisturbed.saved()) << "stopped after " << stop;
  }
}

// The same rounds without a file in between: saving changes nothing.
TEST_P(SavedAgent, SavingChangesNothing) {
  Bandit saved(small_spec(GetParam()), small_setup());
  Bandit plain(small_spec(GetParam()), small_setup());
  play(saved, 0, 30);
  play(plain, 0, 30);
  saved.saved();
  EXPECT_EQ(play(saved, 30, 60), play(plain, 30, 60));
}

// Draws from the posterior look at every number of it.
TEST_P(SavedAgent, BelievesTheSame) {
  Bandit bandit(small_spec(GetParam()), small_setup());
  play(bandit, 0, 40);
  const Bandit loaded = Bandit::from_saved(bandit.saved(), "it");
  const std::vector<float> x = {0.3F, -1.0F, 0.5F};
  std::vector<double> before(action_count), after(action_count);
  if (!bandit.agent().draw_rewards(x, 0, before)) GTEST_SKIP() << "has no posterior to draw from";
  for (std::uint32_t draw = 0; draw < 20; ++draw) {
    ASSERT_EQ(loaded.agent().draw_rewards(x, draw, after), bandit.agent().draw_rewards(x, draw, before));
    EXPECT_EQ(after, before);
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, SavedAgent, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });

// Flows and optimisers with a memory of their own.
INSTANTIATE_TEST_SUITE_P(Variants, SavedAgent,
                         testing::Values("pi-ts,flow=blob,optimizer=adagrad", "pi-ts,flow=dgf-sinkhorn",
                                         "pi-ts,inner_steps=3,optimizer=sign", "pi-ts,capacity=9",
                                         "pi-ts,flow=spos,optimizer=sgd,step=1e-5", "pi-ts,noise=learned-per-action",
                                         "neural-ucb,design=full", "logistic-ts,diagonal=true", "boltzmann,gumbel=true",
                                         "vi-ts,capacity=9", "epsilon-greedy,restart=true", "lin-ts,capacity=9",
                                         "lin-ts,discount=0.9", "bernoulli-ts,capacity=9", "ucb1,discount=0.9",
                                         "neural-linear,discount=0.9", "neural-logistic,discount=0.9",
                                         "neural-ts,discount=0.9", "pi-ts:exact,discount=0.9"),
                         [](const auto& agent) { return plain_name(agent.param); });

std::string small_file() {
  Bandit bandit("pi-ts,capacity=6,hidden=2,particles=2,batch=4,train_every=7,train_steps=2", small_setup());
  play(bandit, 0, 12);
  return bandit.saved();
}

TEST(SavedBandit, RefusesEveryFlippedByteAndEveryTruncation) {
  const std::string file = small_file();
  ASSERT_GT(file.size(), 1000U);
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string flipped = file;
    flipped[i] = static_cast<char>(~flipped[i]);
    EXPECT_THROW(Bandit::from_saved(flipped, "it"), Error) << "byte " << i;
    EXPECT_THROW(Bandit::from_saved(file.substr(0, i), "it"), Error) << "length " << i;
  }
}

// Behind a right checksum too: whatever a truncated state holds, it is refused, never read beyond its end.
TEST(SavedBandit, RefusesEveryTruncatedStateBehindARightChecksum) {
  const std::string bytes = unsealed("bandit", small_file(), "it");
#ifdef PITS_SANITIZED
  constexpr std::size_t step = 7;  // prime to the sizes of numbers; every length takes more than a minute
#else
  constexpr std::size_t step = 1;
#endif
  for (std::size_t n = 0; n < bytes.size(); n += step) {
    EXPECT_THROW(Bandit::from_saved(sealed("bandit", bytes.substr(0, n)), "it"), Error) << n;
  }
  EXPECT_THROW(Bandit::from_saved(sealed("bandit", bytes + "x"), "it"), Error);
}

// The particles of one agent are no regressions of another, nor those of a larger network.
TEST(SavedBandit, RefusesTheStateOfAnotherAgent) {
  const std::string bytes = unsealed("bandit", small_file(), "it");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = bytes;
    const std::size_t at = other.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    other.replace(at, from.size(), to);
    return message_of([&] { Bandit::from_saved(sealed("bandit", other), "'x.pits'"); });
  };
  expect_mentions(with("pi-ts", "pi-tz"), {"'x.pits'", "unknown agent 'pi-tz'", "did you mean"});
  expect_mentions(with("auto", "autq"), {"preset", "'autq'"});
  const std::string hidden("hidden\x01\0\0\0\0\0\0\0", 14);  // its value is one character long
  expect_mentions(with(hidden + "2", hidden + "3"), {"does not fit"});
}

TEST(SavedBandit, NamesTheFileAndWhatIsWrongWithIt) {
  const Scratch scratch;
  const auto said = [&](const std::string& content) {
    write_bytes(scratch / "agent.pits", content);
    return message_of([&] { Bandit::load(scratch / "agent.pits"); });
  };
  expect_mentions(said("no such thing"), {"agent.pits'", "not a file saved by pits"});
  expect_mentions(said(small_file().substr(0, 100)), {"agent.pits'", "truncated"});
  expect_mentions(said(sealed("report", "")), {"'report'", "'bandit'"});
  std::string newer = small_file();
  newer[8] = 9;
  expect_mentions(said(newer), {"newer pits", "format 9"});
  expect_mentions(message_of([&] { Bandit::load(scratch / "none.pits"); }), {"none.pits"});
}

TEST(SavedBandit, LeavesTheOldFileWhereItCannotWrite) {
  const Scratch scratch;
  Bandit bandit("uniform", small_setup());
  EXPECT_THROW(bandit.save(scratch / "no" / "agent.pits"), Error);
  bandit.save(scratch / "agent.pits");
  EXPECT_EQ(names_in(scratch.path()), std::set<std::string>{"agent.pits"});
  bandit.save(scratch / "agent.pits");
  EXPECT_EQ(names_in(scratch.path()), std::set<std::string>{"agent.pits"});
}

// A config is saved in full: the file does not depend on what a later version's defaults are.
TEST(SavedBandit, SpellsOutItsConfig) {
  const Bandit bandit("pi-ts:released,particles=3", small_setup());
  expect_mentions(bandit.describe(), {"pi-ts:released", ",particles=3", ",flow=dgf-released", ",train_every=50"});
  expect_mentions(Bandit("pi-ts", small_setup()).describe(), {"pi-ts:auto,"});
}

}  // namespace
}  // namespace pits::test
