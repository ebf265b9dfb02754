// pits report: of directories that cannot be written, and of cells that cannot be.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/process.h"
#include "cli/words.h"
#include "experiment/scratch.h"

namespace pits::test {
namespace {

namespace fs = std::filesystem;

class Report : public testing::Test {
 protected:
  Report() {
    const std::string words = "run --agent lin-ts --env wheel --steps 60 --realizations 2 --out ";
    const Outcome made = pits(words_of(words + run.string()));
    EXPECT_EQ(made.exit_code, 0) << made.err;
    table = made.out.substr(0, made.out.find("Report:"));
  }
  const Scratch scratch;
  const fs::path run = scratch / "run";
  std::string table;
};

// Permissions do not stop the superuser, who becomes somebody else.
TEST_F(Report, OfAReadOnlyDirectoryIsPrintedAndSaysWhatWasNotWritten) {
  Surroundings other;
  if (geteuid() == 0) other.through = {"/usr/bin/env", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  const auto all = fs::perms::owner_all | fs::perms::group_all | fs::perms::others_all;
  const auto nobody_writes = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  fs::permissions(scratch.path(), all, fs::perm_options::add);
  if (pits({"--version"}, other).exit_code != 0) GTEST_SKIP() << "the program is not there for another user";
  fs::permissions(run, nobody_writes, fs::perm_options::remove);
  fs::remove(run / ".lock");
  const std::string page = bytes_of(run / "report.html");

  const Outcome text = pits({"report", run.string()}, other);
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_EQ(text.out, table);
  EXPECT_NE(text.err.find("not written"), std::string::npos) << text.err;
  EXPECT_NE(text.err.find((run / "report.html").string()), std::string::npos) << text.err;
  const Outcome json = pits({"report", run.string(), "--json"}, other);
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_EQ(json_lines(json.out).at(0).at("agent"), "lin-ts");
  EXPECT_EQ(bytes_of(run / "report.html"), page);
  fs::permissions(run, nobody_writes, fs::perm_options::add);
}

TEST_F(Report, OfCellsWithoutRoundsIsRefused) {
  for (const char* name : {"000000.json", "000001.json"}) {
    auto cell = nlohmann::ordered_json::parse(bytes_of(run / "cells" / name));
    cell["rounds"] = 0;
    cell["curve"] = nlohmann::ordered_json::array();
    write_bytes(run / "cells" / name, cell.dump());
  }
  const Outcome outcome = pits({"report", run.string()});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("000000.json"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("is damaged"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace pits::test
