// Saved bandits of every kind of agent, frozen in fixtures/: a pits of any later version reads them. Where a class's
// list of fields changes, its version rises, it goes on reading the old list (core/io/archive.h), and a new set of
// files is added beside this one, of the agents that have the class (frozen_sets):
//
//   PITS_FREEZE=2 build/release/test_bandit --gtest_filter='Frozen*'
//
// Until the first release sets may be written anew instead.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "bandit/small_bandit.h"
#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "pits/core/io/files.h"

namespace pits::test {
namespace {

using Json = nlohmann::json;
using Versions = std::vector<std::pair<std::string, std::uint32_t>>;

const std::string fixtures = std::string(PITS_TEST_DIR) + "/bandit/fixtures";
constexpr std::size_t frozen_rounds = 24;
const std::vector<float> asked = {0.3F, -1.0F, 0.5F};

// One for each class that has a state.
const std::vector<std::string>& frozen_agents() {
  static const std::vector<std::string> agents = {"uniform",
                                                  "bernoulli-ts",
                                                  "gaussian-ts",
                                                  "ucb1",
                                                  "lin-ts",
                                                  "lin-ucb",
                                                  "logistic-ts",
                                                  "pi-ts",
                                                  "pi-ts:exact",
                                                  "pi-ts:released",
                                                  "feature-ts",
                                                  "bootstrap-heads",
                                                  "vi-ts",
                                                  "neural-linear",
                                                  "neural-ts",
                                                  "neural-ucb",
                                                  "neural-logistic",
                                                  "boltzmann",
                                                  "parameter-noise",
                                                  "dropout",
                                                  "lin-ts,capacity=9",
                                                  "pi-ts:exact,flow=dgf-sinkhorn,optimizer=adagrad"};
  return agents;
}

// Smaller still.
std::string tiny_spec(const std::string& agent) {
  std::string text = small_spec(agent);
  for (const std::string size : {"hidden=6", "particles=5"}) {
    const std::size_t at = text.find(size);
    if (at != std::string::npos) text[at + size.size() - 1] = '2';
  }
  return text;
}

// Later versions of some classes: a second set of files, of the agents that have them.
const std::vector<std::vector<std::string>>& frozen_sets() {
  static const std::vector<std::vector<std::string>> sets = {frozen_agents(), {"pi-ts"}};
  return sets;
}

std::string file_of(const std::string& agent, std::size_t set = 0) {
  return fmt::format("{}/{}-{}.pits", fixtures, plain_name(agent), set + 1);
}
std::string values_file(std::size_t set) { return fmt::format("{}/values-{}.json", fixtures, set + 1); }

Json values_of(const Bandit& bandit) {
  std::vector<float> p(action_count);
  bandit.probabilities(asked, p);
  return {{"pending", bandit.pending()}, {"events", bandit.agent().events()}, {"probabilities", p}};
}

// The table of classes in front of the state, and the rest.
std::pair<Versions, std::string> parts_of(const std::string& file) {
  const std::string content = unsealed("bandit", file, "it");
  Archive archive(content);
  Versions versions;
  archive(versions);
  Archive table;
  table(versions);
  return {versions, content.substr(table.bytes().size())};
}

std::string file_with(Versions versions, const std::string& rest) {
  Archive table;
  table(versions);
  return sealed("bandit", table.bytes() + rest);
}

void freeze(std::size_t set) {
  Json values;
  for (const std::string& agent : frozen_sets()[set]) {
    Bandit bandit(tiny_spec(agent), small_setup());
    play(bandit, 0, frozen_rounds);
    bandit.save(file_of(agent, set));
    values[agent] = values_of(bandit);
  }
  write_file_atomically(values_file(set), values.dump(1) + "\n");
}

void expect_to_go_on(std::size_t set) {
  const Json known = Json::parse(bytes_of(values_file(set)));
  for (const std::string& agent : frozen_sets()[set]) {
    SCOPED_TRACE(file_of(agent, set));
    const std::string file = bytes_of(file_of(agent, set));
    Bandit bandit = Bandit::from_saved(file, agent);
    const Json found = values_of(bandit), &expected = known.at(agent);
    EXPECT_EQ(found["pending"], expected["pending"]);
    EXPECT_EQ(found["events"], expected["events"]);
    for (std::size_t a = 0; a < action_count; ++a) {
      // Other SIMD targets round differently, which may turn a simulated decision.
      EXPECT_NEAR(found["probabilities"][a].get<double>(), expected["probabilities"][a].get<double>(), 0.005);
    }
    const auto [versions, rest] = parts_of(file);
    if (versions == parts_of(bandit.saved()).first) {
      EXPECT_TRUE(rest.ends_with(agent_state(bandit))) << "a changed list of fields needs a new version";
    }
    EXPECT_NO_THROW(play(bandit, frozen_rounds, frozen_rounds + 20));
  }
}

// PITS_FREEZE=N writes set N.
TEST(FrozenBandits, AreReadAndGoOn) {
  if (const char* set = std::getenv("PITS_FREEZE")) freeze(std::stoul(set) - 1);
  for (std::size_t set = 0; set < frozen_sets().size(); ++set) expect_to_go_on(set);
}

// The classes that name a version in the sources, and the version that they write. What is in no saved bandit is left
// out: the ledger's recovery point, which the log gives again, and policies, which a learner publishes again.
std::map<std::string, std::uint32_t> versions_in_the_sources() {
  std::map<std::string, std::uint32_t> all;
  const std::regex call(R"re(\barchive\.version\("([A-Za-z0-9]+)", ([0-9]+))re");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(PITS_TEST_DIR) + "/../src/pits")) {
    const std::string extension = entry.path().extension();
    if ((extension != ".h" && extension != ".cpp") || entry.path().filename() == "archive.h") continue;
    const std::string text = bytes_of(entry.path());
    for (std::sregex_iterator found(text.begin(), text.end(), call), end; found != end; ++found) {
      all[(*found)[1]] = static_cast<std::uint32_t>(std::stoul((*found)[2]));
    }
  }
  return all;
}

TEST(FrozenBandits, HoldEveryClassInTheVersionOfToday) {
  std::map<std::string, std::uint32_t> frozen;
  for (std::size_t set = 0; set < frozen_sets().size(); ++set) {
    for (const std::string& agent : frozen_sets()[set]) {
      for (const auto& [name, version] : parts_of(bytes_of(file_of(agent, set))).first) {
        frozen[name] = std::max(frozen[name], version);
      }
    }
  }
  auto sources = versions_in_the_sources();
  sources.erase("Policy");
  EXPECT_GT(sources.size(), 30U);
  for (const auto& [name, version] : sources) {
    EXPECT_EQ(frozen[name], version) << name << ": a new class, or a new version of one, needs a new set of fixtures";
  }
}

TEST(FrozenBandits, HaveLearnedAndWait) {
  for (const std::string& agent : frozen_agents()) {
    const Bandit bandit = Bandit::load(file_of(agent));
    EXPECT_GT(bandit.agent().events(), 10U) << agent;
    EXPECT_GT(bandit.pending(), 0U) << agent;
  }
}

TEST(FrozenBandits, NameTheClassAndVersionThatCannotBeRead) {
  const auto [versions, rest] = parts_of(bytes_of(file_of("pi-ts:exact")));
  ASSERT_GT(versions.size(), 8U);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const auto said = [&](std::uint32_t version) {
      Versions other = versions;
      other[i].second = version;
      return message_of([&, &tail = rest] { Bandit::from_saved(file_with(other, tail), "'x.pits'"); });
    };
    const std::string name = "state of " + versions[i].first;
    expect_mentions(said(1000), {"'x.pits'", "newer pits", name, "version 1000"});
    expect_mentions(said(0), {"'x.pits'", "older pits", name, "version 0"});
  }
  Versions fewer = versions;
  fewer.pop_back();
  expect_mentions(message_of([&, &tail = rest] { Bandit::from_saved(file_with(fewer, tail), "'x.pits'"); }),
                  {"holds no " + versions.back().first});
}

}  // namespace
}  // namespace pits::test
