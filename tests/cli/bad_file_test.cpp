// Files and directories that cannot be read or written, or hold something else: exit code 3.
#include "cli/bad_input.h"

namespace pits::test {
namespace {

class BadFile : public testing::TestWithParam<BadInput> {};

TEST_P(BadFile, IsOneClearLine) { expect_refused(GetParam()); }

constexpr int bad = bad_data_or_config;
const std::string with_config = "run --config DIR/config.toml";

// A reader that calls itself for every part would overflow the stack.
std::string deep_key(const std::string& value = " = 1") {
  std::string key = "a";
  for (int i = 0; i < 100'000; ++i) key += ".a";
  return key + value;
}

const std::vector<BadInput> toml_files = {
    {"Missing", "run --config DIR/absent.toml", bad, {"absent.toml", "No such file"}},
    {"IsDirectory", "run --config DIR", bad, {"is a directory"}},
    {"Endless", "run --config /dev/zero", bad, {"/dev/zero", "larger than 1048576 bytes"}},
    {"DeepKey", with_config, bad, {"config.toml:2", "a key of more than 1000 parts"}, "steps = 5\n" + deep_key()},
    {"DeepInlineKey", with_config, bad, {"config.toml:1", "more than 1000 parts"}, "set = { " + deep_key() + " }\n"},
    {"DeepTable", with_config, bad, {"config.toml:1", "more than 1000 parts"}, "[" + deep_key("") + "]\n"},
    {"Malformed", with_config, bad, {"config.toml:3", "not TOML"}, "steps = 5\nseed = 1\nagents = [\"lin-ts\n"},
    {"KeyTwice", with_config, bad, {"config.toml:2", "steps"}, "steps = 5\nsteps = 6\n"},
    {"UnknownKey", with_config, bad, {"config.toml:2", "'step'", "did you mean 'steps'"}, "seed = 1\nstep = 5\n"},
    {"StepsText", with_config, bad, {"config.toml:1", "steps must be a whole number"}, "steps = \"many\"\n"},
    {"StepsNotWhole", with_config, bad, {"config.toml:1", "steps must be a whole number"}, "steps = 1.5\n"},
    {"AgentsText", with_config, bad, {"config.toml:1", "agents must be a list of strings"}, "agents = \"lin-ts\"\n"},
    {"AgentsNumbers", with_config, bad, {"config.toml:1", "agents must be a list of strings"}, "agents = [1, 2]\n"},
    {"SetNoTable", with_config, bad, {"config.toml:1", "set must be a table"}, "set = 3\n"},
    {"SetDate", with_config, bad, {"config.toml:2", "lin-ts.lambda"}, "[set.lin-ts]\nlambda = 1979-05-27\n"},
    {"SetBadValue",
     with_config,
     bad,
     {"lambda: must be above 0"},
     "agents = [\"lin-ts\"]\nenvironments = [\"wheel\"]\n[set.lin-ts]\nlambda = nan\n"},
    {"SetEnvOfNone",
     with_config,
     bad,
     {"'radius'"},
     "agents = [\"lin-ts\"]\nenvironments = [\"wheel\"]\n[set-env]\nradius = 1\n"},
    {"NegativeSeed",
     with_config,
     bad,
     {"config.toml:3", "seed: must be at least 0"},
     "agents = [\"lin-ts\"]\nenvironments = [\"wheel\"]\nseed = -3\n"},
    {"FeedbackNumber",
     with_config,
     bad,
     {"config.toml:3", "feedback", "'3'", "Known: played, all"},
     "agents = [\"lin-ts\"]\nenvironments = [\"wheel\"]\nfeedback = 3\n"},
    {"UnknownAgent",
     with_config,
     bad,
     {"'lin-t'", "did you mean 'lin-ts'"},
     "agents = [\"lin-t\"]\nenvironments = [\"wheel\"]\n"},
};

const std::string quick = "run --agent uniform --env wheel --steps 5 --realizations 1 --out ";

const std::vector<BadInput> places = {
    {"OutIsAFile", quick + "DIR/config.toml", bad, {"config.toml", "not a directory"}, "# a file\n"},
    {"OutBelowAFile", quick + "DIR/config.toml/run", bad, {"config.toml/run"}, "# a file\n"},
    {"OutUnwritable", quick + "/proc/pits/run", bad, {"/proc/pits"}},
    {"OutTooLong", quick + "DIR/" + std::string(300, 'n'), bad, {"nnn", "File name too long"}},
    {"PageUnwritable", "sample --iterations 1 --out /proc/page.html", bad, {"'/proc/page.html'"}},
    {"PageBelowNothing", "sample --iterations 1 --out DIR/no/page.html", bad, {"no/page.html'", "No such file"}},
    {"PageIsADirectory", "sample --iterations 1 --out DIR", bad, {"not a regular file"}},
    {"PageIsADevice", "sample --iterations 1 --out /dev/null", bad, {"'/dev/null'", "not a regular file"}},
    {"AnimationUnwritable",
     "sample --iterations 1 --out DIR/page.html --animation /proc/a.svg",
     bad,
     {"'/proc/a.svg'"}},
    {"ReportOfNothing", "report DIR/absent", bad, {"absent", "run.json"}},
    {"ReportOfAFile", "report DIR/config.toml", bad, {"config.toml' is a file", "directory"}, "# a file\n"},
    {"DataVariable", "data list", bad, {"'/nowhere' of $PITS_DATA"}, "", {{"PITS_DATA", "/nowhere"}}},
    {"ReportWithoutRun", "report DIR", bad, {"holds no run.json"}},
};

INSTANTIATE_TEST_SUITE_P(Toml, BadFile, testing::ValuesIn(toml_files), name_of);
INSTANTIATE_TEST_SUITE_P(Place, BadFile, testing::ValuesIn(places), name_of);

const std::string sweep =
    "agents = [\"lin-ts\", \"pi-ts\"]\nenvironments = [\"linear\", \"wheel\"]\nsteps = 5\nrealizations = 1\n"
    "[set.pi-ts]\nparticles = 5\n[set-env]\ndelta = 0.9\n";

TEST(Sweep, SettingsGoWithTheAgentsAndProblemsThatAreReplaced) {
  const Scratch scratch;
  write_bytes(scratch / "sweep.toml", sweep);
  const std::vector<std::string> words = {"run", "--config", (scratch / "sweep.toml").string(), "--json"};
  for (const char* more : {"--agent lin-ts", "--env linear", "--agent uniform --env linear", "--agent lin-ucb"}) {
    EXPECT_EQ(pits(joined(words, words_of(more))).exit_code, 0) << more;
  }
}

TEST(Sweep, SettingsThatNameNothingStayErrors) {
  const Scratch scratch;
  write_bytes(scratch / "sweep.toml", sweep + "[set.lin-ucb]\nalpha = 1\n");
  const std::vector<std::string> words = {"run", "--config", (scratch / "sweep.toml").string()};
  expect_one_clear_line(pits(joined(words, words_of("--agent lin-ts"))), bad, {"'lin-ucb'", "Known: lin-ts"});
  write_bytes(scratch / "sweep.toml", sweep);
  expect_one_clear_line(pits(joined(words, words_of("--agent lin-ts --set pi-ts.particles=5"))), bad,
                        {"'pi-ts'", "Known: lin-ts"});
}

// A file's name or a column's becomes a label, and labels are JSON.
TEST(BadFileAlone, ATextThatIsNotUtf8IsRefusedAtOnce) {
  const Scratch scratch;
  write_bytes(scratch / "\xff.csv", "x,y\n1,a\n2,b\n");
  const std::set<std::string> before = names_in(scratch.path());
  const std::vector<std::vector<std::string>> wrong = {{"--env", "csv:\xff.csv", "--label", "y"},
                                                       {"--env", "csv:a.csv", "--label", "\xff"},
                                                       {"--env", "csv:a.csv", "--set-env", "csv.drop=\xff"}};
  for (const auto& words : wrong) {
    for (const std::vector<std::string>& where : {{"--out", "run"}, std::vector<std::string>{"--json"}}) {
      const Outcome outcome =
          pits(joined(joined({"run", "--agent", "lin-ts"}, words), where), {.directory = scratch.path()});
      expect_one_clear_line(outcome, bad, {"\xEF\xBF\xBD", "is not UTF-8"});
      EXPECT_EQ(names_in(scratch.path()), before);
    }
  }
  write_bytes(scratch / "sweep.toml", "agents = [\"lin-ts\"]\nenvironments = [\"csv:\xff.csv\"]\n");
  expect_one_clear_line(pits({"run", "--config", (scratch / "sweep.toml").string()}), bad, {"sweep.toml:2", "TOML"});
}

// The page that cannot be written is found before hours of work.
TEST(BadFileAlone, AnUnwritablePageIsRefusedAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  expect_one_clear_line(pits({"sample", "--iterations", "100000000", "--out", "/proc/page.html"}), bad, {"page.html"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

// A file that may not grow stands for the disk.
TEST(BadFileAlone, AFullDiskUnderARunDirectoryIsAFailure) {
  const Scratch scratch;
  const std::vector<std::string> limited = {"/bin/bash", "-c", "trap '' XFSZ; ulimit -f 4; exec \"$@\"", "bash"};
  const std::string words = "run --agent uniform --env wheel --steps 5 --realizations 1 --out ";
  expect_one_clear_line(pits(words_of(words + (scratch / "run").string()), {.through = limited}), failed_while_working,
                        {"cannot write", "report.html"});
}

TEST(BadFileAlone, AFullDiskIsAFailure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  const Scratch scratch;
  const std::string err = (scratch / "err").string();
  const int status = std::system(("'" PITS_PROGRAM "' list agents > /dev/full 2> '" + err + "'").c_str());
  EXPECT_EQ(WEXITSTATUS(status), failed_while_working);
  EXPECT_EQ(bytes_of(err), "pits: cannot write to the standard output: No space left on device\n");
}

}  // namespace
}  // namespace pits::test
