// pits reproduce from outside, cut down to few rounds. A script stands in for the browser except in the last test.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/process.h"
#include "cli/run_directory.h"
#include "cli/words.h"

namespace pits::test {
namespace {

namespace fs = std::filesystem;

class Reproduce : public testing::Test {
 protected:
  Reproduce() {
    write_bytes(scratch_ / "browser",
                "#!/bin/sh\necho '<script id=\"pits-figures\">[{\"id\":\"one\",\"svg\":\"\",\"png\":"
                "\"data:image/png;base64,iVBORw0KGgo=\"}]</script>'\n");
    chmod((scratch_ / "browser").c_str(), 0755);
  }

  // With the data that comes with pits only, unless a test gives some.
  Surroundings here() const {
    return {.environment = {{"CHROMIUM", (scratch_ / "browser").string()},
                            {"PITS_DATA", std::nullopt},
                            {"XDG_CACHE_HOME", (scratch_ / "cache").string()}}};
  }
  Outcome reproduce(const std::string& out, const std::string& more) const {
    return pits(joined({"reproduce", "--out", (scratch_ / out).string()}, words_of(more)), here());
  }

  Scratch scratch_;
};

const std::string small = "--steps 60 --realizations 2";

TEST_F(Reproduce, WritesPageTablesFiguresAndRuns) {
  const Outcome outcome = reproduce("out", "--only ablation " + small);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("M = 50"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("Report: " + (scratch_ / "out/report.html").string()), std::string::npos);
  for (const char* file : {"report.html", "reproduction.json", "tables/ablation-normalized-regret.tex",
                           "tables/ablation-regret.csv", "figures/one.png", "ablation/results.jsonl"}) {
    EXPECT_TRUE(fs::exists(scratch_ / "out" / file)) << file;
  }
}

TEST_F(Reproduce, ARunAndAReproductionDoNotMix) {
  const std::vector<std::string> run = words_of("run --agent uniform --env wheel --steps 9 --out");
  ASSERT_EQ(reproduce("out", "--only ablation " + small).exit_code, 0);
  const std::string page = bytes_of(scratch_ / "out/report.html");
  for (const char* resume : {"--json", "--resume"}) {
    const Outcome outcome = pits(joined(run, {(scratch_ / "out").string(), resume}));
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_NE(outcome.err.find("holds a reproduction; choose another --out"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(bytes_of(scratch_ / "out/report.html"), page);
  EXPECT_FALSE(fs::exists(scratch_ / "out/cells"));

  ASSERT_EQ(pits(joined(run, {(scratch_ / "run").string()})).exit_code, 0);
  for (const std::string resume : {"", "--resume "}) {
    const Outcome outcome = reproduce("run", resume + "--only ablation " + small);
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_NE(outcome.err.find("holds a run of pits run; choose another --out"), std::string::npos) << outcome.err;
  }
  EXPECT_FALSE(fs::exists(scratch_ / "run/ablation"));
}

TEST_F(Reproduce, ReportSaysWhatFinishesIt) {
  ASSERT_EQ(reproduce("out", "--only ablation " + small).exit_code, 0);
  const fs::path file = scratch_ / "out/reproduction.json";
  write_bytes(file, "{");
  const Outcome damaged = pits({"report", (scratch_ / "out").string()});
  EXPECT_NE(damaged.err.find("is damaged: it is not valid JSON at byte 2; remove it"), std::string::npos)
      << damaged.err;
  fs::remove(file);  // written at the end
  const Outcome unfinished = pits({"report", (scratch_ / "out").string()});
  EXPECT_EQ(unfinished.exit_code, 3);
  EXPECT_NE(unfinished.err.find("with --resume finishes it"), std::string::npos) << unfinished.err;
}

TEST_F(Reproduce, ResumeAndReportGiveTheSameFiles) {
  ASSERT_EQ(reproduce("out", "--only ablation " + small).exit_code, 0);
  const std::string table = bytes_of(scratch_ / "out/tables/ablation-regret.txt");
  const Outcome again = reproduce("out", "--only ablation " + small);
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_NE(again.err.find("--resume"), std::string::npos) << again.err;
  fs::remove(scratch_ / "out/ablation/cells/000003.json");
  EXPECT_EQ(reproduce("out", "--only ablation --resume " + small).exit_code, 0);
  EXPECT_EQ(bytes_of(scratch_ / "out/tables/ablation-regret.txt"), table);
  const std::string resumed = bytes_of(scratch_ / "out/report.html");
  EXPECT_EQ(pits({"report", (scratch_ / "out").string()}).exit_code, 0);
  EXPECT_EQ(bytes_of(scratch_ / "out/report.html"), resumed);
}

TEST_F(Reproduce, ResumeAddsASection) {
  ASSERT_EQ(reproduce("out", "--only ablation " + small).exit_code, 0);
  const Outcome refused = reproduce("out", "--only wheel --steps 20 --realizations 1");
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_NE(refused.err.find("--resume"), std::string::npos) << refused.err;
  const Outcome added = reproduce("out", "--only wheel --steps 20 --realizations 1 --resume");
  ASSERT_EQ(added.exit_code, 0) << added.err;
  EXPECT_NE(added.out.find("M = 50"), std::string::npos) << added.out;
  EXPECT_NE(added.out.find("Wheel, δ = 0.5"), std::string::npos);
}

// Where the agents of the paper lose, a newcomer sees the default too.
TEST_F(Reproduce, ShowsTheDefaultOnFormulasToo) {
  for (const std::string section : {"wheel", "linear"}) {
    const Outcome outcome = reproduce(section, "--only " + section + " --steps 20 --realizations 1");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("π-TS, our default"), std::string::npos) << outcome.out;
  }
}

// A directory of a version whose section had fewer agents.
TEST_F(Reproduce, ReportShowsTheAgentsThatRan) {
  const std::string out = (scratch_ / "out").string();
  ASSERT_EQ(pits(words_of("run --agent lin-ts --agent vi-ts --env wheel,delta=0.5 --steps 20 --out " + out + "/wheel"))
                .exit_code,
            0);
  write_bytes(scratch_ / "out/reproduction.json", R"({"version": "1.0.0", "missing": [],
      "sections": [{"id": "wheel", "environments": ["wheel,delta=0.5"], "figures": []}]})");
  const Outcome outcome = pits({"report", out});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("VI-TS"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("our default"), std::string::npos) << outcome.out;
}

TEST_F(Reproduce, LeavesOutProblemsWithoutDataAndSaysSo) {
  const Outcome outcome = reproduce("out", "--only wheel --steps 20 --realizations 1");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Left out jester"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("Wheel, δ = 0.95"), std::string::npos);
}

TEST_F(Reproduce, RefusesWithOneMessageAndWritesNothing) {
  write_bytes(scratch_ / "shuttle.trn", "1 2 3\n");
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"--only covertype", "covtype.data"},
      {"--only statlog --data-dir " + scratch_.path().string(), "shuttle.trn"},
      {"--only ablation --data-dir /no/such/directory", "/no/such/directory"},
      {"--only tabel", "did you mean 'table'"},
      {"--device gpu --only ablation", "gpu"},
      {"--realizations 0 --only ablation", "realizations"},
      {"--threads -1 --only ablation", "--threads"}};
  for (const auto& [words, word] : refused) {
    const Outcome outcome = reproduce("out", words);
    EXPECT_EQ(outcome.exit_code, 3) << words << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
    EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
    EXPECT_FALSE(fs::exists(scratch_ / "out")) << words;
  }
  EXPECT_EQ(pits(words_of("reproduce --only ablation"), here()).exit_code, 2);  // no --out
}

// On the GPU where the program was built for one and finds one, else refused.
TEST_F(Reproduce, UsesTheGpuOrRefusesIt) {
  const Outcome outcome = reproduce("out", "--device cuda --only ablation --steps 20 --realizations 1");
  if (outcome.exit_code == 0) {
    EXPECT_TRUE(fs::exists(scratch_ / "out/report.html"));
    return;
  }
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("cuda"), std::string::npos) << outcome.err;
  EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
  EXPECT_FALSE(fs::exists(scratch_ / "out"));
}

TEST_F(Reproduce, ShowsThePosteriorBesideTheExactOne) {
  const Outcome outcome = reproduce("out", "--only posterior --steps 40 --realizations 1 --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const auto& line : json_lines(outcome.out)) {
    EXPECT_EQ(line.at("posterior_rounds").back(), 40);
    EXPECT_GT(line.at("posterior_w2").back().get<double>(), 0.0);
    EXPECT_GT(line.at("posterior_floor").back().get<double>(), 0.0);
  }
  EXPECT_TRUE(fs::exists(scratch_ / "out/tables/posterior.md"));
}

}  // namespace
}  // namespace pits::test
