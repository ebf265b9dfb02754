// Command lines that do not parse: exit code 2.
#include "cli/bad_input.h"

namespace pits::test {
namespace {

class BadUsage : public testing::TestWithParam<BadInput> {};

TEST_P(BadUsage, IsOneClearLine) { expect_refused(GetParam()); }

const std::vector<BadInput> cases = {
    {"UnknownSubcommand", "rnu --agent lin-ts", wrong_usage, {"'rnu'", "did you mean 'run'", "pits --help"}},
    {"FarSubcommand", "frobnicate", wrong_usage, {"'frobnicate'", "run, reproduce, sample, list, report, data"}},
    {"UnknownOption", "run --agnet lin-ts --env linear", wrong_usage, {"'--agnet'", "did you mean '--agent'"}},
    {"UnknownShortOption", "run -x --agent lin-ts --env linear", wrong_usage, {"'-x'", "pits run --help"}},
    {"UnknownProgramOption", "--verson", wrong_usage, {"'--verson'", "did you mean '--version'"}},
    {"UnknownSampleOption", "sample --particle 5", wrong_usage, {"'--particle'", "did you mean '--particles'"}},
    {"UnknownListOption", "list agents --jsn", wrong_usage, {"'--jsn'", "did you mean '--json'"}},
    {"MissingValue", "run --env linear --agent", wrong_usage, {"--agent needs a value", "pits run --help"}},
    {"MissingNumber", "run --agent lin-ts --env linear --steps", wrong_usage, {"--steps needs a value"}},
    {"MissingKind", "list", wrong_usage, {"kind", "pits list --help"}},
    {"MissingDirectory", "report", wrong_usage, {"directory", "pits report --help"}},
    {"OneWordTooMany", "run --agent lin-ts --env linear wheel", wrong_usage, {"'wheel'"}},
    {"TwoAgentsAfterOneOption", "run --agent lin-ts uniform --env linear", wrong_usage, {"'uniform'"}},
    {"TwoSettingsAfterOneOption", "sample --set step=1 init_sd=2", wrong_usage, {"'init_sd=2'"}},
    {"TooManyNames", "list agents lin-ts uniform", wrong_usage, {"'uniform'"}},
    {"StepsNoNumber", "run --agent lin-ts --env linear --steps abc", wrong_usage, {"--steps = abc", "whole number"}},
    {"StepsNotWhole", "run --agent lin-ts --env linear --steps 1.5", wrong_usage, {"--steps = 1.5", "whole number"}},
    {"StepsWithUnit", "run --agent lin-ts --env linear --steps 10k", wrong_usage, {"--steps = 10k", "whole number"}},
    {"StepsTwice", "run --agent lin-ts --env linear --steps 5 --steps 6", wrong_usage, {"--steps is given twice"}},
    {"StepsOctal", "run --agent lin-ts --env linear --steps 010", wrong_usage, {"--steps = 010", "decimal"}},
    {"StepsHexadecimal", "run --agent lin-ts --env linear --steps 0x10", wrong_usage, {"--steps = 0x10", "decimal"}},
    {"SeedTooLarge",
     "run --agent lin-ts --env linear --seed 99999999999999999999",
     wrong_usage,
     {"--seed = 99999999999999999999", "to 9223372036854775807"}},
    {"SeedTooLow", "run --agent lin-ts --env linear --seed -99999999999999999999", wrong_usage, {"from -9223"}},
    {"SampleSeedTooLarge", "sample --seed 99999999999999999999", wrong_usage, {"--seed", "to 9223372036854775807"}},
    {"ParticlesOctal", "sample --particles 010", wrong_usage, {"--particles = 010", "decimal"}},
    {"ReproduceStepsOctal", "reproduce --out DIR/out --steps 010", wrong_usage, {"--steps = 010", "decimal"}},
    {"StallTimeoutTooLarge", "data fetch --stall-timeout 9999999999", wrong_usage, {"--stall-timeout", "2147483647"}},
    {"FlagWithAWord", "run --agent lin-ts --env linear --json=maybe", wrong_usage, {"--json = maybe is a flag"}},
    {"SeedNoNumber", "run --agent lin-ts --env linear --seed today", wrong_usage, {"--seed = today", "whole number"}},
    {"ThreadsNoNumber", "run --agent lin-ts --env linear --threads all", wrong_usage, {"--threads", "whole number"}},
    {"IterationsNoNumber", "sample --iterations many", wrong_usage, {"--iterations = many", "whole number"}},
    {"ResumeWithoutOut", "run --agent lin-ts --env linear --resume", wrong_usage, {"--resume needs --out"}},
};

INSTANTIATE_TEST_SUITE_P(CommandLine, BadUsage, testing::ValuesIn(cases), name_of);

TEST(BadUsageAlone, NoSubcommandIsToldWhichThereAre) {
  expect_one_clear_line(pits({}), wrong_usage,
                        {"subcommand", "run, reproduce, sample, list, report, data", "pits --help"});
}

TEST(BadUsageAlone, AnEmptyWordIsNoName) {
  expect_one_clear_line(pits({"run", "--agent", "", "--env", "linear"}), bad_data_or_config, {"''", "name"});
}

TEST(BadUsageAlone, AnEmptyWordIsNoPlace) {
  const Scratch scratch;
  const std::set<std::string> before = names_in(scratch.path());
  const auto expect = [&](const std::string& words, const std::string& option) {
    const Outcome outcome = pits(joined(words_of(words), {option, ""}), {.directory = scratch.path()});
    expect_one_clear_line(outcome, wrong_usage, {option + " is empty"});
    EXPECT_EQ(names_in(scratch.path()), before);
  };
  for (const char* option : {"--out", "--config", "--data-dir", "--label"}) {
    expect("run --agent uniform --env wheel --steps 5", option);
  }
  expect("reproduce --only ablation --steps 5", "--out");
  expect("reproduce --only ablation --steps 5 --out here", "--data-dir");
  expect("sample --iterations 1", "--out");
  expect("data list", "--data-dir");
}

// An unset variable of a shell: --steps "$STEPS".
TEST(BadUsageAlone, AnEmptyWordIsNoNumber) {
  for (const char* option : {"--steps", "--realizations", "--seed", "--threads"}) {
    expect_one_clear_line(pits({"run", "--agent", "uniform", "--env", "wheel", option, ""}), wrong_usage,
                          {std::string(option) + " = ''", "whole number"});
  }
  expect_one_clear_line(pits({"sample", "--iterations", ""}), wrong_usage, {"--iterations = ''", "whole number"});
}

}  // namespace
}  // namespace pits::test
