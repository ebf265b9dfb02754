// One small log in every format, and many kinds of broken ones: each gets one error with its line.
#include "evaluate/readers.h"

namespace pits::test {
namespace {

using std::string;
using std::vector;

const string csv =
    "age,action,reward,propensity,p:tea,p:milk,mine:tea,mine:milk\n"
    "30,tea,1,0.25,0.25,0.75,1,0\n"
    "41.5,milk,0,0.5,0.5,0.5,0.2,0.8\n";

TEST_F(Readers, Csv) {
  const LoggedData data = read("shop.csv", csv);
  EXPECT_EQ(data.rounds(), 2);
  EXPECT_EQ(data.action_names, (vector<string>{"tea", "milk"}));
  EXPECT_EQ(data.context_names, (vector<string>{"age"}));
  EXPECT_EQ(data.actions, (vector<Action>{0, 1}));
  EXPECT_EQ(data.rewards, (vector<double>{1, 0}));
  EXPECT_EQ(data.propensities, (vector<double>{.25, .5}));
  EXPECT_EQ(data.contexts, (vector<float>{30, 41.5F}));
  EXPECT_EQ(data.all_propensities, (vector<float>{.25F, .75F, .5F, .5F}));
  EXPECT_EQ(data.policies.at(0).probabilities, (vector<double>{1, 0, .2, .8}));
}

TEST_F(Readers, CsvWithNumbersAndOtherNames) {
  const LoggedData data = read("a.csv", "shown,click,prob\n2,1,0.5\n0,0,0.5\n",
                               {.action = "shown", .reward = "click", .propensity = "prob"});
  EXPECT_EQ(data.action_names, (vector<string>{"0", "1", "2"}));
  EXPECT_EQ(data.actions, (vector<Action>{2, 0}));
  EXPECT_FALSE(data.knows_all_propensities());
}

TEST_F(Readers, CsvMask) {
  const LoggedData data =
      read("a.csv", "action,reward,propensity,allowed:a,allowed:b,allowed:c\nb,1,0.5,0,1,1\na,0,.3,1,1,1\n");
  EXPECT_EQ(data.allowed, (vector<std::uint8_t>{0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(data.action_set(0).count(3), 2);
}

TEST_F(Readers, JsonLines) {
  const LoggedData data = read(
      "shop.jsonl",
      R"({"action":"milk","reward":1,"propensities":{"tea":0.2,"milk":0.8},"context":{"age":3,"vip":1}})"
      "\n\n"
      R"({"action":"tea","reward":0.5,"propensity":0.4,"propensities":[0.4,0.6],"context":{"vip":0,"age":4},"allowed":["tea","milk"]})"
      "\n");
  EXPECT_EQ(data.action_names, (vector<string>{"tea", "milk"}));
  EXPECT_EQ(data.actions, (vector<Action>{1, 0}));
  EXPECT_EQ(data.propensities, (vector<double>{.8, .4}));
  EXPECT_EQ(data.contexts, (vector<float>{3, 1, 4, 0}));
}

TEST_F(Readers, VowpalWabbitCb) {
  const LoggedData data = read("a.vw", "1:2:0.4 | a c:3\n3:0.5:0.2 'tag |u b:2 |v a\n2 3:-1:0.5 |u b\n");
  EXPECT_EQ(data.action_names, (vector<string>{"1", "2", "3"}));
  EXPECT_EQ(data.actions, (vector<Action>{0, 2, 2}));
  EXPECT_EQ(data.rewards, (vector<double>{-2, -.5, 1}));
  EXPECT_EQ(data.propensities, (vector<double>{.4, .2, .5}));
  EXPECT_EQ(data.context_names, (vector<string>{"a", "c", "u^b", "v^a"}));
  EXPECT_EQ(data.contexts, (vector<float>{1, 3, 0, 0, 0, 0, 2, 1, 0, 0, 1, 0}));
  EXPECT_EQ(data.allowed, (vector<std::uint8_t>{1, 1, 1, 1, 1, 1, 0, 1, 1}));
}

TEST_F(Readers, VowpalWabbitAdf) {
  const LoggedData data = read("a.vw", "shared | s:2\n| a:1\n0:0.1:0.75 | b\n\n| a\n0:1:0.5 | a b:4\n| c\n\n| only\n");
  EXPECT_EQ(data.rounds(), 2);
  EXPECT_EQ(data.counts.waiting, 1);  // the last block has no label
  EXPECT_EQ(data.actions, (vector<Action>{1, 1}));
  EXPECT_EQ(data.rewards, (vector<double>{-.1, -1}));
  EXPECT_EQ(data.K(), 3);
  EXPECT_EQ(data.allowed, (vector<std::uint8_t>{1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(data.contexts, (vector<float>{2, 0}));
  EXPECT_EQ(data.action_features, 4);  // a, b, c, only
  EXPECT_EQ((vector<float>(data.features.begin() + 16, data.features.begin() + 20)), (vector<float>{1, 4, 0, 0}));
}

const string ds =
    R"({"_label_cost":-1,"_label_probability":0.8,"_label_Action":2,"_labelIndex":1,"a":[2,1],"p":[0.8,0.2],"c":{"u":{"age":3,"sex":"f"},"_multi":[{"i":{"x":1}},{"i":{"x":2}}]}})";

TEST_F(Readers, DecisionServiceJson) {
  const LoggedData data = read("a.dsjson", ds + "\n" + R"({"RewardValue":1,"EventId":"7"})" + "\n");
  EXPECT_EQ(data.rounds(), 1);
  EXPECT_EQ(data.counts.dangling, 1);
  EXPECT_EQ(data.rewards, (vector<double>{1}));
  EXPECT_EQ(data.actions, (vector<Action>{1}));
  EXPECT_EQ(data.all_propensities, (vector<float>{.2F, .8F}));
  EXPECT_EQ(data.context_names, (vector<string>{"u.age", "u.sex=f"}));
  EXPECT_EQ(data.features, (vector<float>{1, 2}));
}

// The frozen log: 4 decisions, of which one was rewarded, one cancelled, one waits, one expired.
TEST_F(Readers, BrokenCsv) {
  const string head = "action,reward,propensity\n";
  expect_error("a.csv", head + "a,1,0.5\nb,1,0\n", "3", "the propensity is 0");
  expect_error("a.csv", head + "a,1,1.5\n", "2", "above 0 and at most 1, not 1.5");
  expect_error("a.csv", head + "a,1,-0.1\n", "2", "above 0 and at most 1, not -0.1");
  expect_error("a.csv", head + "a,1,\n", "2", "column 'propensity' is empty");
  expect_error("a.csv", head + "a,1,nan\n", "2", "must be a finite number, not 'nan'");
  expect_error("a.csv", head + "a,,0.5\n", "2", "column 'reward' is empty");
  expect_error("a.csv", head + "a,yes,0.5\n", "2", "must be a finite number, not 'yes'");
  expect_error("a.csv", head + ",1,0.5\n", "2", "the action is missing");
  expect_error("a.csv", head + "a,1\n", "2", "2 fields, but 3 in line 1");
  expect_error("a.csv", "action,reward\na,1\n", "1", "no propensities");
  expect_error("a.csv", "act,reward,propensity\na,1,.5\n", "1", "no column 'action'");
  expect_error("a.csv", "action,action,reward,propensity\na,a,1,.5\n", "1", "two columns have the name 'action'");
  expect_error("a.csv", head, "", "has no rounds");
  expect_error("a.csv", "", "", "empty");
  expect_error("a.csv", "action,reward,propensity,x\na,1,.5,red\n", "2",
               "column 'x' must be a finite number, not 'red'");
  expect_error("a.csv", head + "a,7,0.5\n", "2", "outside of the range 0 to 1", {.reward_range = RewardRange{0, 1}});
  expect_error("a.csv", head + "c,1,0.5\n", "2", "unknown action 'c'", {.actions = {"a", "b"}});
  expect_error("a.csv", head + "a,1,1\nb,0,1\n", "", "all 2 decisions were certain");
  expect_error("a.csv", head + "\"a,1,1\n", "2", "quote");
}

TEST_F(Readers, BrokenProbabilities) {
  const string head = "action,reward,p:a,p:b\n";
  expect_error("a.csv", head + "a,1,0.5,0.4\n", "2", "sum to 0.9, not 1");
  expect_error("a.csv", head + "a,1,1.5,-0.5\n", "2", "must be in 0..1, not 1.5");
  expect_error("a.csv", "action,reward,propensity,p:a,p:b\na,1,.3,.5,.5\n", "2",
               "is 0.3 in one place and 0.5 in another");
  expect_error("a.csv", "action,reward,p:a,p:b,allowed:a\na,1,.5,.5,1\n", "1", "for 1 of 2 actions");
  expect_error("a.csv", "action,reward,p:a,p:b,allowed:a,allowed:b\na,1,.5,.5,0,1\n", "2", "'a' is not allowed there");
  expect_error("a.csv", "action,reward,p:a,p:b,allowed:a,allowed:b\na,1,.5,.5,1,0\n", "2",
               "'b' has the probability 0.5 but");
  expect_error("a.csv", "action,reward,propensity,m:a,m:b\na,1,.5,.5,.2\n", "2",
               "policy 'm': the probabilities sum to 0.7");
  expect_error("a.csv", "action,reward,propensity,m:a,m:b,allowed:a,allowed:b\na,1,.5,.5,.5,1,0\n", "2",
               "policy 'm': 'b' has");
}

TEST_F(Readers, BrokenJsonLines) {
  const string good = R"({"action":"a","reward":1,"propensity":0.5,"context":[1]})"
                      "\n";
  expect_error("a.jsonl", good + "{\"action\":", "2", "not JSON");
  expect_error("a.jsonl", good + "[1]\n", "2", "must be an object");
  expect_error("a.jsonl", good + R"({"reward":1,"propensity":0.5,"context":[1]})", "2", "no \"action\"");
  expect_error("a.jsonl", good + R"({"action":"a","reward":null,"propensity":0.5,"context":[1]})", "2",
               "no \"reward\"");
  expect_error("a.jsonl", good + R"({"action":"a","reward":1,"context":[1]})", "2", "no propensity");
  expect_error("a.jsonl", good + R"({"action":"a","reward":"1","propensity":0.5,"context":[1]})", "2",
               "must be a number");
  expect_error("a.jsonl", good + R"({"action":"a","reward":1,"propensity":0.5,"context":[1,2]})", "2",
               "2 numbers, but 1 in line 1");
  expect_error("a.jsonl", good + R"({"action":"a","reward":1,"propensity":0.5,"contxt":[1]})", "2",
               "did you mean 'context'");
  expect_error("a.jsonl", good + R"({"action":"a","reward":1,"propensities":[0.5,0.5],"context":[1]})", "2",
               "probabilities for 1 actions");
  expect_error("a.jsonl", good + R"({"action":-1,"reward":1,"propensity":0.5,"context":[1]})", "2",
               "a name or a number from 0");
}

TEST_F(Readers, BrokenVowpalWabbit) {
  expect_error("a.vw", "1:2:0.4 | a\n1:2 | a\n", "2", "has no probability");
  expect_error("a.vw", "1:2:0.4 a\n", "1", "no '|'");
  expect_error("a.vw", "1:x:0.4 | a\n", "1", "the cost must be a finite number, not 'x'");
  expect_error("a.vw", "1:1:0.4 2:1:0.5 | a\n", "1", "a second label");
  expect_error("a.vw", "1:1:0 | a\n", "1", "the propensity is 0");
  expect_error("a.vw", "1:1:.5 | a:b\n", "1", "the value of a feature");
  expect_error("a.vw", "| a\nshared | b\n", "2", "'shared' must be the first");
}

TEST_F(Readers, BrokenDecisionServiceJson) {
  expect_error("a.dsjson", ds + "\n{\"c\":{\"_multi\":[{}]}}\n", "2", "no \"_label_cost\"");
  expect_error("a.dsjson", R"({"_label_cost":0,"_label_probability":0.5,"_labelIndex":4,"c":{"_multi":[{},{}]}})", "1",
               "action 5 of 2");
  expect_error("a.dsjson",
               R"({"_label_cost":0,"_label_probability":0.5,"_labelIndex":0,"a":[1,2],"p":[1],"c":{"_multi":[{},{}]}})",
               "1", "as many entries");
  expect_error("a.dsjson",
               R"({"_label_cost":0,"_label_probability":0.5,"_labelIndex":0,"pdrop":0.5,"c":{"_multi":[{},{}]}})", "1",
               "pdrop");
}

}  // namespace
}  // namespace pits::test
