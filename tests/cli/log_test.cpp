// pits log, from outside, on the frozen log of tests/log/fixtures.
#include <gtest/gtest.h>

#include "cli/bad_input.h"

namespace pits {
namespace {

using test::Outcome;
using test::Scratch;

const std::string lines = std::string(PITS_TEST_DIR) + "/log/fixtures/shop.jsonl";

class Log : public testing::Test {
 protected:
  Outcome log(std::vector<std::string> words) {
    words.insert(words.begin(), "log");
    return test::pits(words, {.directory = scratch_.path()});
  }
  void expect_done(const std::vector<std::string>& words, const std::string& out) {
    const Outcome outcome = log(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, out);
    EXPECT_EQ(outcome.err, "");
  }
  Scratch scratch_;
};

TEST_F(Log, ExportGivesWhatWasImported) {
  expect_done({"import", "shop", lines}, "10 events\n");
  expect_done({"export", "shop"}, test::bytes_of(lines));
}

TEST_F(Log, ChecksAndVerifies) {
  log({"import", "shop", lines});
  expect_done({"check", "shop"},
              "whole: 10 events; 4 decisions, of which 3 settled and 1 wait; 1 rewards; 0 snapshots\n");
  expect_done(
      {"check", "shop", "--json"},
      R"({"events":10,"decisions":4,"rewards":1,"settled":3,"waiting":1,"restored":0,"unlogged":0,"snapshots":0})"
      "\n");
  expect_done({"verify", "shop"}, "same 0, different 0, other engine 4, out of reach 0\n");
}

TEST_F(Log, SnapshotsThatCannotBeReadAreNoDamageOfTheLog) {
  log({"import", "shop", lines});
  const std::string whole = "whole: 10 events; 4 decisions, of which 3 settled and 1 wait; 1 rewards; 0 snapshots\n";
  test::write_bytes(scratch_ / "shop/snapshots.db", std::string(5000, 'z'));
  expect_done({"check", "shop"},
              whole +
                  "snapshots: cannot read 'shop/snapshots.db': file is not a database; the next start learns the log "
                  "again\n");
  std::filesystem::remove(scratch_ / "shop/snapshots.db");
  expect_done({"check", "shop"},
              whole + "snapshots: 'shop/snapshots.db' is missing; the next start learns the log again\n");
  expect_done({"export", "shop"}, test::bytes_of(lines));
}

TEST_F(Log, SaysWhatWasLost) {
  const auto line = [](int number, const std::string& rest) {
    return R"({"number":)" + std::to_string(number) + R"(,"utc":1700000800000000,"elapsed":800000000,"event":)" + rest +
           "}\n";
  };
  const std::string more =
      line(11, R"("restored","id":9,"key":"","model":2,"action":0,"active":true,"floor":0,"propensity_error":0,)"
               R"("propensities":[0.5,0.5],"allowed":[],"x":[1],"features":[],"context":"","utc":1700000799000000)") +
      line(12, R"("rewarded","id":9,"previous":11,"value":1,"key":"")") +
      line(13, R"("settled","id":9,"previous":12,"value":1,"reason":"lost")") + line(14, R"("gap","decisions":42)") +
      line(15, R"("config_changed","config":{"reward_range":"0,1"})");
  test::write_bytes(scratch_ / "lost.jsonl", test::bytes_of(lines) + more);
  expect_done({"import", "lost", "lost.jsonl"}, "15 events\n");
  expect_done({"check", "lost"},
              "whole: 15 events; 5 decisions, of which 4 settled and 1 wait; 2 rewards; 0 snapshots\n"
              "1 decisions were lost and came back with their tokens\n"
              "42 more decisions were made and not logged, in overload\n");
  // The log's own range of rewards is that of the evaluation.
  const Outcome evaluated =
      test::pits({"evaluate", "lost", "--policy", "uniform", "--model", "none"}, {.directory = scratch_.path()});
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
  for (const char* part :
       {"2 rounds", "1 restored from tokens, left out", "42 decisions never logged (overload)", "95 % sequence"}) {
    EXPECT_NE(evaluated.out.find(part), std::string::npos) << part << "\n" << evaluated.out;
  }
}

TEST_F(Log, ErasesSettledDecisions) {
  log({"import", "shop", lines});
  expect_done({"erase", "shop", "--ids", "0", "--reason", "asked"}, "1 contexts erased\n");
  const Outcome unknown = log({"erase", "shop", "--ids", "1,77"});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_EQ(unknown.out, "1 contexts erased\n");
  EXPECT_NE(unknown.err.find("1 of the 2 decisions were not erased"), std::string::npos) << unknown.err;
  const std::string left = log({"export", "shop"}).out;
  EXPECT_EQ(left.find("30}"), std::string::npos);
  EXPECT_EQ(left.find("visit-1"), std::string::npos);
  EXPECT_NE(left.find(R"("decisions":1,"reason":"asked")"), std::string::npos);
  // Decision 3 waited since 2023; its window closed when the log was opened.
  expect_done({"erase", "shop", "--older-than", "30"}, "2 contexts erased\n");
  expect_done({"erase", "shop", "--older-than", "30"}, "0 contexts erased\n");
}

// Decision 0 has a named context; 3 waits, and 2 was cancelled.
TEST_F(Log, TeachesANewLog) {
  log({"import", "shop", lines});
  test::write_bytes(scratch_ / "age.json", R"({"features": [{"name": "age", "kind": "number"}]})");
  expect_done({"teach", "agent", "shop", "--agent", "lin-ts", "--seed", "4"},
              "4 decisions, of which 2 learned and 1 wait; 0 left out, 0 refused by the agent; 0 trainings\n");
  expect_done({"teach", "schema", "shop", "--schema", "age.json", "--json"},
              R"({"decisions":1,"learned":1,"waiting":0,"left_out":3,"trainings":0,"refused":0})"
              "\n");
  expect_done({"check", "agent"},
              "whole: 11 events; 4 decisions, of which 3 settled and 1 wait; 1 rewards; 1 snapshots\n");
  expect_done({"verify", "agent"}, "same 0, different 0, other engine 0, out of reach 4\n");
  EXPECT_NE(log({"export", "schema"}).out.find(R"("x":[30.0],"features":[],"context":"{\"age\":30}")"),
            std::string::npos);
  const auto value = [&](const std::string& name) {
    return test::pits({"evaluate", name, "--policy", "uniform", "--model", "none", "--json"},
                      {.directory = scratch_.path()})
        .out;
  };
  EXPECT_NE(value("shop"), "");
  EXPECT_EQ(value("agent"), value("shop"));  // the same rounds, with the old propensities
}

TEST_F(Log, BadCallsWriteNothing) {
  log({"import", "shop", lines});
  test::write_bytes(scratch_ / "bad.json", R"({"features": [{"name": "age", "kind": "boolean"}]})");
  test::write_bytes(scratch_ / "bad.jsonl", test::bytes_of(lines) + "{}\n");
  test::write_bytes(scratch_ / "empty.jsonl", "");
  const std::set<std::string> before = test::names_in(scratch_.path());
  const auto refused = [&](const std::vector<std::string>& words, int code, const std::vector<std::string>& mentions) {
    test::expect_one_clear_line(log(words), code, mentions);
  };
  refused({"check", "nothing"}, test::bad_data_or_config, {"nothing", "holds no log"});
  refused({"erase", "nothing", "--ids", "1"}, test::bad_data_or_config, {"nothing", "holds no log"});
  refused({"erase", "shop"}, test::wrong_usage, {"--ids", "--older-than"});
  refused({"teach", "new", "shop"}, test::wrong_usage, {"--schema", "--agent"});
  refused({"teach", "new", "nothing", "--agent", "lin-ts"}, test::bad_data_or_config, {"nothing", "holds no log"});
  refused({"teach", "shop", "shop", "--agent", "lin-ts"}, test::bad_data_or_config, {"shop", "there already"});
  refused({"teach", "new", "shop", "--schema", "bad.json"}, test::bad_data_or_config, {"decision 0", "'age'"});
  refused({"teach", "new", "shop", "--schema", "bad.jsonl"}, test::bad_data_or_config, {"bad.jsonl"});
  refused({"import", "shop", lines}, test::bad_data_or_config, {"shop", "there already"});
  refused({"import", "copy", "bad.jsonl"}, test::bad_data_or_config, {"bad.jsonl", "line 11", "number"});
  refused({"import", "copy", "empty.jsonl"}, test::bad_data_or_config, {"empty.jsonl", "no events"});
  refused({"import", "copy", "absent.jsonl"}, test::bad_data_or_config, {"absent.jsonl"});
  EXPECT_EQ(test::names_in(scratch_.path()), before);
}

}  // namespace
}  // namespace pits
