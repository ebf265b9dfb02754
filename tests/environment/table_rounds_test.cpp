// Rounds of the one-hot problems, read back into words of the files they come from.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "data/have_data.h"
#include "environment/data_problem.h"

namespace pits::test {
namespace {

std::size_t paying_action(const Round& round) {
  EXPECT_EQ(std::ranges::count(round.rewards, 1.0), 1);
  EXPECT_EQ(std::ranges::count(round.rewards, 0.0), static_cast<std::ptrdiff_t>(round.rewards.size()) - 1);
  EXPECT_EQ(round.mean_rewards, round.rewards);
  return static_cast<std::size_t>(std::ranges::find(round.rewards, 1.0) - round.rewards.begin());
}

// Contexts written as the file writes them, then looked up in it.
TEST(CovertypeProblem, ARoundIsALineOfTheFile) {
  PITS_SKIP_WITHOUT("covertype");
  const std::vector<std::string> lines = unpacked_lines(find_data_set("covertype").files.front());
  const std::set<std::string> all(lines.begin(), lines.end());
  const auto problem = data_problem("covertype", {.seed = 4, .steps = 20}, Standardise::none);
  for (std::size_t t = 0; t < 20; ++t) {
    const Round round = round_of(problem, t);
    std::string line;
    for (const float x : round.context) line += std::to_string(static_cast<int>(x)) + ",";
    line += std::to_string(paying_action(round) + 1);
    EXPECT_TRUE(all.contains(line)) << line;
  }
}

// Six numbers, then one column for each level of the other eight, sorted: every context has 6 + 8 places that can be
// read back into words of the file.
TEST(AdultProblem, ARoundIsALineOfTheFiles) {
  PITS_SKIP_WITHOUT("adult");
  constexpr std::size_t numeric[] = {0, 2, 4, 10, 11, 12}, categorical[] = {1, 3, 5, 7, 8, 9, 13, 14}, occupation = 6;
  std::vector<std::vector<std::string>> rows;
  for (const DataFile& file : find_data_set("adult").files) {
    for (const std::string& line : unpacked_lines(file)) {
      std::vector<std::string> fields;
      std::istringstream words(line);
      for (std::string word; std::getline(words, word, ',');)
        fields.push_back(word.substr(word.find_first_not_of(' ')));
      if (fields.size() == 15 && std::ranges::find(fields, "?") == fields.end()) rows.push_back(fields);
    }
  }
  ASSERT_EQ(rows.size(), 45222U);
  std::vector<std::vector<std::string>> levels;
  for (const std::size_t column : categorical) {
    std::set<std::string> names;
    for (const auto& row : rows) names.insert(row[column]);
    levels.emplace_back(names.begin(), names.end());
  }
  std::set<std::string> occupations;
  for (const auto& row : rows) occupations.insert(row[occupation]);
  const std::vector<std::string> actions(occupations.begin(), occupations.end());
  std::set<std::vector<std::string>> known(rows.begin(), rows.end());

  const auto problem = data_problem("adult", {.seed = 4, .steps = 20}, Standardise::none);
  for (std::size_t t = 0; t < 20; ++t) {
    const Round round = round_of(problem, t);
    std::vector<std::string> row(15);
    for (std::size_t i = 0; i < 6; ++i) row[numeric[i]] = std::to_string(static_cast<int>(round.context[i]));
    std::size_t at = 6;
    for (std::size_t c = 0; c < 8; ++c) {
      for (const std::string& level : levels[c]) {
        if (round.context[at++] != 0.0F) row[categorical[c]] = level;
      }
    }
    EXPECT_EQ(at, 94U);
    row[occupation] = actions[paying_action(round)];
    EXPECT_TRUE(known.contains(row)) << t;
  }
}

// Column 36 of 69 is the occupation; the rest but the case number make 67 ones.
TEST(CensusProblem, ARoundPaysTheOccupationOfItsLine) {
  PITS_SKIP_WITHOUT("census");
  const std::vector<std::string> lines = unpacked_lines(find_data_set("census").files.front());
  std::map<std::vector<std::string>, std::set<std::size_t>> occupations;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::istringstream words(lines[i]);
    std::vector<std::string> fields;
    for (std::string word; std::getline(words, word, ',');) fields.push_back(word);
    const std::size_t job = std::stoul(fields.at(35));
    fields.erase(fields.begin() + 35);
    fields.erase(fields.begin());
    occupations[fields].insert(job);
    rows.push_back(fields);
  }
  std::vector<std::vector<std::string>> levels(67);
  for (std::size_t c = 0; c < 67; ++c) {
    std::map<int, std::string> sorted;  // the levels are numbers
    for (const auto& row : rows) sorted[std::stoi(row[c])] = row[c];
    for (const auto& [number, name] : sorted) levels[c].push_back(name);
  }
  const auto problem = data_problem("census", {.seed = 4, .steps = 20}, Standardise::none);
  for (std::size_t t = 0; t < 20; ++t) {
    const Round round = round_of(problem, t);
    EXPECT_EQ(std::ranges::count(round.context, 1.0F), 67);
    std::vector<std::string> row(67);
    std::size_t at = 0;
    for (std::size_t c = 0; c < 67; ++c) {
      for (const std::string& level : levels[c]) {
        if (round.context.at(at++) != 0.0F) row[c] = level;
      }
    }
    ASSERT_TRUE(occupations.contains(row)) << t;
    EXPECT_TRUE(occupations[row].contains(paying_action(round))) << t;
  }
}

}  // namespace
}  // namespace pits::test
