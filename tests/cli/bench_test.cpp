// pits bench: what it prints, not how fast it is.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/process.h"
#include "cli/words.h"

namespace pits {
namespace {

using Json = nlohmann::json;
using test::lines_of;
using test::Outcome;

std::vector<Json> json_lines(const std::string& text) {
  std::vector<Json> lines;
  for (const std::string& line : lines_of(text)) lines.push_back(Json::parse(line));
  return lines;
}

class Bench : public testing::Test {
 protected:
  void SetUp() override {
#ifndef PITS_HAS_BENCH
    GTEST_SKIP() << "built without Google Benchmark";
#endif
  }
};

TEST_F(Bench, JsonHasTheDocumentedFields) {
  const Outcome outcome = test::pits({"bench", "--quick", "--json", "--filter", "^(decision|update)/d=9,"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<Json> lines = json_lines(outcome.out);
  ASSERT_EQ(lines.size(), 3U) << outcome.out;
  for (const char* field : {"simd_target", "sgemm_gflops", "torch"}) EXPECT_TRUE(lines[0].contains(field)) << field;
  EXPECT_EQ(lines[1]["name"], "update/d=9,K=7,M=20");
  EXPECT_EQ(lines[2]["name"], "decision/d=9,K=7,M=20");
  EXPECT_TRUE(lines[1]["p50_seconds"].is_null());
  EXPECT_LE(lines[2]["p50_seconds"], lines[2]["p99_seconds"]);
  for (const Json& row : {lines[1], lines[2]}) {
    EXPECT_GT(row["seconds"], 0.0);
    const double compared = row["p50_seconds"].is_null() ? row["seconds"] : row["p50_seconds"];
    const double gflops = row["gflops"], operations = row["operations"];
    EXPECT_NEAR(gflops, 1e-9 * operations / compared, 1e-6 * gflops);
    if (!lines[0]["sgemm_gflops"].is_null()) {
      EXPECT_NEAR(row["share_of_sgemm"], gflops / lines[0]["sgemm_gflops"].get<double>(), 1e-9);
    }
    ASSERT_TRUE(row["references"].contains("plain loop"));
    EXPECT_EQ(row["references"].contains("PyTorch"), !lines[0]["torch"].is_null());
    for (const Json& reference : row["references"]) {
      EXPECT_NEAR(reference["ratio"], reference["seconds"].get<double>() / compared,
                  1e-6 * reference["ratio"].get<double>());
    }
  }
}

TEST_F(Bench, TableHasTheReferencesUnderIt) {
  const Outcome outcome = test::pits({"bench", "--quick", "--filter", "update-optimizer/d=9,"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* text : {"update-optimizer/d=9,K=7,M=20", "GFLOP/s", "SIMD target", "sgemm"}) {
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
  }
}

TEST_F(Bench, SaysWhatIsNotHere) {
  const Outcome outcome = test::pits({"bench", "--quick", "--json", "--filter", "load"},
                                     {.environment = {{"PITS_DATA", {}}, {"XDG_CACHE_HOME", "/nowhere"}}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(json_lines(outcome.out).at(1)["missing"].get<std::string>().find("covtype.data"), std::string::npos);
}

TEST_F(Bench, RefusesAFilterThatFindsNothing) {
  const Outcome nothing = test::pits({"bench", "--filter", "no-such-thing"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_EQ(nothing.out, "");
  EXPECT_NE(nothing.err.find("'no-such-thing' is found in no name; there are update/"), std::string::npos)
      << nothing.err;
  const Outcome broken = test::pits({"bench", "--filter", "("});
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_NE(broken.err.find("not a regular expression"), std::string::npos) << broken.err;
}

}  // namespace
}  // namespace pits
