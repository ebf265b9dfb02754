// Logs with random damage are read or refused with an Error, and nothing else happens.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "pits/core/error.h"
#include "pits/core/random.h"
#include "pits/evaluate/evaluation.h"
#include "pits/evaluate/read/read_log.h"

namespace pits {
namespace {

using std::string;

struct Sample {
  LogFormat format;
  string text;
};

string repeated(const string& text, int times) {
  string all;
  for (int k = 0; k < times; ++k) all += text;
  return all;
}

std::vector<Sample> samples() {
  std::ifstream file(string(PITS_TEST_DIR) + "/log/fixtures/shop.jsonl");
  const string events((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return {
      {LogFormat::events, events},
      {LogFormat::csv, "x,action,reward,p:a,p:b,allowed:a,allowed:b,m:a,m:b\n" +
                           repeated("1.5,a,1,0.25,0.75,1,1,0,1\n-2,b,0,0.5,0.5,1,1,1,0\n", 3)},
      {LogFormat::jsonl, repeated(R"({"action":"a","reward":1,"propensities":{"a":0.5,"b":0.5},"context":{"x":1}})"
                                  "\n",
                                  4)},
      {LogFormat::vw, repeated("1:2:0.4 |n a c:3\n2 3:-1:0.5 |u b\n", 3)},
      {LogFormat::vw, repeated("shared | s:2\n| a:1\n0:0.1:0.75 | b\n\n", 3)},
      {LogFormat::dsjson,
       repeated(R"({"_label_cost":-1,"_label_probability":0.8,"_labelIndex":1,"a":[2,1],"p":[0.8,0.2],)"
                R"("c":{"u":{"age":3},"_multi":[{"x":1},{"x":2}]}})"
                "\n",
                3)},
  };
}

// A byte changed, a piece removed, or a piece written twice.
string damaged(string text, Stream& stream) {
  const auto place = [&] { return stream.index(static_cast<std::uint32_t>(text.size())); };
  const string bytes = "0159.-,:|{}[]\"\n \0\xff" + string(1, '\0');
  for (std::uint32_t k = 0; k <= stream.index(3) && text.size() > 20; ++k) {
    switch (stream.index(3)) {
      case 0: text[place()] = bytes[stream.index(static_cast<std::uint32_t>(bytes.size()))]; break;
      case 1: text.erase(place(), 1 + stream.index(12)); break;
      default: {
        const string piece = text.substr(place(), 1 + stream.index(12));
        text.insert(place(), piece);
      }
    }
  }
  return text;
}

TEST(Mutations, AreReadOrRefused) {
  const auto file = std::filesystem::temp_directory_path() / ("pits-mutations-" + std::to_string(getpid()));
  int read = 0, refused = 0;
  std::uint32_t step = 0;
  for (const Sample& sample : samples()) {
    for (int k = 0; k < 300; ++k) {
      Stream stream({.seed = 20, .step = step++});
      std::ofstream(file, std::ios::binary) << damaged(sample.text, stream);
      try {
        const LoggedData data = read_log(file, {.format = sample.format});
        ASSERT_EQ(data.rewards.size(), data.rounds());
        ASSERT_EQ(data.contexts.size(), data.rounds() * data.context_size);
        ASSERT_TRUE(data.all_propensities.empty() || data.all_propensities.size() == data.rounds() * data.K());
        ASSERT_TRUE(data.allowed.empty() || data.allowed.size() == data.rounds() * data.K());
        evaluate(data, {.policies = {"uniform"}, .model = "none"});
        ++read;
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  std::filesystem::remove(file);
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace pits
