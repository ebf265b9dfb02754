#include <gtest/gtest.h>

#include "cli/process.h"
#include "cli/words.h"
#include "experiment/scratch.h"

namespace pits {
namespace {

using test::lines_of;
using test::Outcome;

const std::map<std::string, std::string> one_of_each = {
    {"agents", "pi-ts"}, {"environments", "wheel"}, {"flows", "svgd"}, {"targets", "banana"}};

Outcome list(std::vector<std::string> words) {
  words.insert(words.begin(), "list");
  Outcome outcome = test::pits(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return outcome;
}

TEST(List, ShowsTheSameNamesAsTextAndAsJson) {
  for (const auto& [kind, known] : one_of_each) {
    const auto objects = test::json_lines(list({kind, "--json"}).out);
    const auto lines = lines_of(list({kind}).out);
    bool found = false;
    std::size_t at = 0;
    for (const auto& object : objects) {
      const auto name = object.at("name").get<std::string>();
      found = found || name == known;
      EXPECT_FALSE(object.at("summary").get<std::string>().empty()) << name;
      while (at < lines.size() && lines[at].starts_with(" ")) ++at;  // presets
      ASSERT_LT(at, lines.size());
      EXPECT_TRUE(lines[at].starts_with(name + " ")) << lines[at];
      EXPECT_TRUE(lines[at].ends_with(object.at("summary").get<std::string>())) << lines[at];
      ++at;
    }
    EXPECT_TRUE(found) << known << " is no longer in " << kind;
  }
}

TEST(List, OfOneNameShowsItsFieldsAndDefaults) {
  for (const char* kind : {"agents", "environments"}) {
    for (const auto& object : test::json_lines(list({kind, "--json"}).out)) {
      const auto name = object.at("name").get<std::string>();
      EXPECT_EQ(test::json_lines(list({kind, name, "--json"}).out), std::vector{object});
      const std::string text = list({kind, name}).out;
      EXPECT_TRUE(text.starts_with(name + " "));
      for (const auto& field : object.at("fields")) {
        const auto line = "\n  " + field.at("name").get<std::string>() + " ";
        const std::size_t found = text.find(line);
        ASSERT_NE(found, std::string::npos) << name << line;
        const std::string rest = text.substr(found + 1, text.find('\n', found + 1) - found - 1);
        EXPECT_NE(rest.find(" " + field.at("default").get<std::string>()), std::string::npos) << rest;
        EXPECT_TRUE(rest.ends_with(field.at("doc").get<std::string>())) << rest;
      }
    }
  }
}

TEST(List, OfOneFlowOrTargetIsItsLine) {
  EXPECT_TRUE(list({"flows", "svgd"}).out.starts_with("svgd "));
  EXPECT_EQ(lines_of(list({"targets", "banana"}).out).size(), 1U);
}

TEST(List, ShowsPresets) {
  const auto objects = test::json_lines(list({"agents", "pi-ts", "--json"}).out);
  ASSERT_EQ(objects.size(), 1U);
  EXPECT_EQ(objects[0].at("presets").at(0).at("name"), "auto");
  EXPECT_NE(list({"agents"}).out.find(":released"), std::string::npos);
}

// Every name in the lists is one that the commands take.
TEST(List, NamesWhatRunAndSampleAccept) {
  const test::Scratch scratch;
  test::write_bytes(scratch / "own.csv", "x,reward_1,reward_2\n1,0,1\n2,1,0\n");
  const std::map<std::string, std::string> arguments = {{"csv", ":own.csv,label=reward_1"}, {"rewards", ":own.csv"}};
  for (const auto& object : test::json_lines(list({"environments", "--json"}).out)) {
    auto env = object.at("name").get<std::string>();
    if (arguments.contains(env)) env += arguments.at(env);
    const auto outcome = test::pits({"run", "--agent", "uniform", "--env", env, "--steps", "5", "--realizations", "1"},
                                    {.directory = scratch.path()});
    const bool known_without_its_data = outcome.err.find("pits data fetch " + env) != std::string::npos;
    EXPECT_EQ(outcome.exit_code, known_without_its_data ? 3 : 0) << outcome.err;
  }
}

// Section 3 of docs/method.md: the released code takes 100 steps every 50 rounds.
TEST(List, OfAPresetShowsItsValues) {
  const auto value = [](const nlohmann::json& agent, const std::string& name) {
    for (const auto& field : agent.at("fields")) {
      if (field.at("name") == name) return field.at("default").get<std::string>();
    }
    return std::string("absent");
  };
  const auto released = test::json_lines(list({"agents", "pi-ts:released", "--json"}).out).at(0);
  EXPECT_EQ(value(released, "train_every"), "50");
  EXPECT_EQ(value(released, "train_steps"), "100");
  const auto changed = test::json_lines(list({"agents", "pi-ts:released,train_steps=7", "--json"}).out).at(0);
  EXPECT_EQ(value(changed, "train_steps"), "7");
}

}  // namespace
}  // namespace pits
