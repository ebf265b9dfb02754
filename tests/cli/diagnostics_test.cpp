// pits run --diagnostics, from outside.
#include <gtest/gtest.h>

#include "cli/bad_input.h"
#include "cli/run_directory.h"

namespace pits::test {
namespace {

const std::string small = "run --agent pi-ts:fast --agent lin-ts --env wheel --steps 120 --realizations 3 ";

Outcome run(const std::string& words, const std::filesystem::path& out) {
  return pits(joined(words_of(words), {"--out", out.string()}));
}

// results.jsonl without what diagnostics add to it.
std::vector<nlohmann::json> without_health(const std::filesystem::path& directory) {
  std::vector<nlohmann::json> lines;
  for (const std::string& line : lines_of(bytes_of(directory / "results.jsonl"))) {
    lines.push_back(nlohmann::json::parse(line));
    lines.back().erase("health");
  }
  return lines;
}

TEST(Diagnostics, ChangeNoDecision) {
  const Scratch scratch;
  const Outcome plain = run(small, scratch / "plain"), seen = run(small + "--diagnostics", scratch / "seen");
  ASSERT_EQ(seen.exit_code, 0) << seen.err;
  EXPECT_EQ(bytes_of(scratch / "plain/curves.npy"), bytes_of(scratch / "seen/curves.npy"));
  EXPECT_EQ(without_health(scratch / "plain"), without_health(scratch / "seen"));
  EXPECT_EQ(plain.out.find("particles of"), std::string::npos);
  EXPECT_NE(seen.out.find("particles of"), std::string::npos) << seen.out;
  EXPECT_NE(seen.out.find("No particles to look at: lin-ts"), std::string::npos) << seen.out;
  EXPECT_NE(bytes_of(scratch / "seen/report.html").find("\"collapse_line\""), std::string::npos);
}

TEST(Diagnostics, AreTheSameOnAnyNumberOfThreadsFromAFileAndAfterAResume) {
  const Scratch scratch;
  ASSERT_EQ(run(small + "--diagnostics --threads 1", scratch / "one").exit_code, 0);
  ASSERT_EQ(run(small + "--diagnostics --threads 2", scratch / "two").exit_code, 0);
  expect_same_files(scratch / "one", scratch / "two");
  write_bytes(scratch / "run.toml",
              "agents = [\"pi-ts:fast\", \"lin-ts\"]\nenvironments = [\"wheel\"]\nsteps = 120\nrealizations = 3\n"
              "diagnostics = true\n");
  ASSERT_EQ(run("run --config " + (scratch / "run.toml").string(), scratch / "file").exit_code, 0);
  expect_same_files(scratch / "one", scratch / "file");
  std::filesystem::remove(scratch / "two/cells/000001.json");
  ASSERT_EQ(run(small + "--diagnostics --resume", scratch / "two").exit_code, 0);
  expect_same_files(scratch / "one", scratch / "two");
  const Outcome report = pits({"report", (scratch / "two").string()});
  EXPECT_NE(report.out.find("particles of"), std::string::npos) << report.out;
}

TEST(Diagnostics, WarnOfACollapse) {
  const Outcome outcome =
      pits(words_of("run --agent pi-ts:paper,model=linear,flow=ensemble --env linear --steps 1500 --realizations 1 "
                    "--diagnostics"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(
      outcome.out.find("\nwarning: pi-ts:paper,model=linear,flow=ensemble on linear: the particles have collapsed "
                       "in 1 of 1 realizations"),
      std::string::npos)
      << outcome.out;
}

TEST(Diagnostics, AreRefusedWhereThereIsNothingToLookAt) {
  expect_one_clear_line(pits(words_of("run --agent lin-ts --env wheel --diagnostics")), bad_data_or_config,
                        {"diagnostics", "particles", "ensemble"});
  const Scratch scratch;
  write_bytes(scratch / "bad.toml", "agents = [\"pi-ts\"]\nenvironments = [\"wheel\"]\ndiagnostics = \"yes\"\n");
  expect_one_clear_line(pits(words_of("run --config " + (scratch / "bad.toml").string())), bad_data_or_config,
                        {"bad.toml:3", "diagnostics must be true or false"});
  ASSERT_EQ(run(small, scratch / "plain").exit_code, 0);
  expect_one_clear_line(run(small + "--diagnostics --resume", scratch / "plain"), bad_data_or_config, {"diagnostics"});
}

}  // namespace
}  // namespace pits::test
