// A small experiment, and one that is long enough to be disturbed and resumed.
#pragma once

#include <gtest/gtest.h>

#include <thread>

#include "cli/process.h"
#include "cli/run_directory.h"
#include "cli/words.h"

namespace pits::test {

inline const std::string tiny_pi_ts = "pi-ts:paper,particles=4,hidden=5,batch=16,train_every=50,train_steps=3";

inline std::vector<std::string> run_words(const std::filesystem::path& out, const std::string& more) {
  return joined({"run", "--out", out.string(), "--agent", "lin-ts", "--agent", tiny_pi_ts, "--agent", "uniform"},
                words_of("--env linear --env wheel " + more));
}

inline void expect_done(const Outcome& outcome) { ASSERT_EQ(outcome.exit_code, 0) << outcome.err; }

inline std::vector<nlohmann::ordered_json> without_seconds(const std::string& out) {
  auto lines = json_lines(out);
  for (auto& line : lines) {
    EXPECT_GE(line.at("seconds").get<double>(), 0.0);
    line.erase("seconds");
  }
  return lines;
}

// A run of some seconds, so that a signal meets it halfway.
class LongRun : public testing::Test {
 protected:
  explicit LongRun(int steps = 2000) : size("--steps " + std::to_string(steps) + " --realizations 25 --threads 2") {}

  static constexpr std::size_t cells = 6 * 25;
  const std::string size;

  // Starts the run and disturbs it once some cells are finished.
  template <class Disturb>
  Outcome disturbed(Disturb&& disturb, const Surroundings& where = {}) {
    Process process(run_words(scratch / "disturbed", size), where);
    for (int i = 0; i < 60000 && finished_cells(scratch / "disturbed") < 5; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    disturb(process);
    return process.wait();
  }
  void expect_half_done() {
    EXPECT_GE(finished_cells(scratch / "disturbed"), 5U);
    EXPECT_LT(finished_cells(scratch / "disturbed"), cells) << "the run ended before the signal";
    EXPECT_FALSE(std::filesystem::exists(scratch / "disturbed/results.jsonl"));
  }
  void expect_resumed_like_undisturbed(const Surroundings& where = {}) {
    const Outcome resumed = pits(run_words(scratch / "disturbed", size + " --resume --json"), where);
    expect_done(resumed);
    const Outcome undisturbed = pits(run_words(scratch / "undisturbed", size + " --json"));
    expect_done(undisturbed);
    expect_same_files(scratch / "undisturbed", scratch / "disturbed");
    EXPECT_EQ(without_seconds(resumed.out), without_seconds(undisturbed.out));
    EXPECT_EQ(names_in(scratch / "disturbed"), names_in(scratch / "undisturbed"));
  }

  const Scratch scratch;
};

}  // namespace pits::test
