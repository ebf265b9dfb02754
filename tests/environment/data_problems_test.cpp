// The benchmark's problems on the real files, which are read here once more, plainly.
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "data/have_data.h"
#include "environment/data_problem.h"
#include "environment/statistics.h"

namespace pits::test {
namespace {

std::vector<std::vector<std::string>> lines_of(const char* set, std::size_t skip, char separator) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& line : unpacked_lines(find_data_set(set).files.front())) {
    if (skip > 0) {
      --skip;
      continue;
    }
    std::istringstream words(line);
    auto& fields = lines.emplace_back();
    for (std::string word; std::getline(words, word, separator);) fields.push_back(word);
  }
  return lines;
}

TEST(StatlogProblem, WholeFileInRandomOrder) {
  PITS_SKIP_WITHOUT("statlog");
  std::multiset<std::vector<float>> expected, met;
  for (const auto& line : lines_of("statlog", 0, ' ')) {
    std::vector<float> row;
    for (const std::string& word : line) row.push_back(std::stof(word));
    expected.insert(row);
  }
  const auto problem = data_problem("statlog", {.seed = 2, .steps = 50000}, Standardise::none);
  ASSERT_EQ(problem.horizon(), 43500U);
  for (std::size_t t = 0; t < 43500; ++t) {
    const Round round = round_of(problem, t);
    std::vector<float> row = round.context;
    const auto paying = std::ranges::find(round.rewards, 1.0) - round.rewards.begin();
    row.push_back(static_cast<float>(paying) + 1.0F);
    met.insert(row);
    ASSERT_EQ(std::ranges::count(round.rewards, 0.0), 6);
  }
  EXPECT_TRUE(met == expected);
}

// The one-hot code of the page: attributes in order, levels sorted.
std::map<std::vector<float>, std::string> coded_mushrooms() {
  const auto lines = lines_of("mushroom", 0, ',');
  std::vector<std::set<std::string>> levels(23);
  for (const auto& line : lines) {
    for (std::size_t j = 1; j < 23; ++j) levels[j].insert(line[j]);
  }
  std::map<std::vector<float>, std::string> coded;
  for (const auto& line : lines) {
    std::vector<float> x;
    for (std::size_t j = 1; j < 23; ++j) {
      for (const std::string& level : levels[j]) x.push_back(level == line[j] ? 1.0F : 0.0F);
    }
    coded[x] = line[0];
  }
  return coded;
}

TEST(MushroomProblem, PaysByTheRules) {
  PITS_SKIP_WITHOUT("mushroom");
  const auto coded = coded_mushrooms();
  ASSERT_EQ(coded.size(), 8124U);
  const auto problem = data_problem("mushroom", {.seed = 6, .steps = 10});
  ASSERT_EQ(problem.context_size(), 117U);
  ASSERT_EQ(problem.actions(), 2U);
  double edible = 0.0, poisonous = 0.0, lucky = 0.0;
  std::set<std::vector<float>> met;
  constexpr std::size_t rounds = 8000;
  for (std::size_t t = 0; t < rounds; ++t) {
    const Round round = round_of(problem, t);
    met.insert(round.context);
    ASSERT_EQ(round.rewards[0], 0.0);
    ASSERT_EQ(round.mean_rewards[0], 0.0);
    if (coded.at(round.context) == "e") {
      ++edible;
      ASSERT_EQ(round.rewards[1], 5.0);
      ASSERT_EQ(round.mean_rewards[1], 5.0);
      ASSERT_EQ(round.best_mean(), 5.0);
    } else {
      ++poisonous;
      lucky += round.rewards[1] == 5.0 ? 1.0 : 0.0;
      ASSERT_TRUE(round.rewards[1] == 5.0 || round.rewards[1] == -35.0);
      ASSERT_EQ(round.mean_rewards[1], -15.0);
      ASSERT_EQ(round.best_mean(), 0.0);
    }
  }
  expect_share(edible, rounds, 4208.0 / 8124.0);
  expect_share(lucky, poisonous, 0.5);
  EXPECT_LT(met.size(), 6000U) << "with replacement about 8124 (1 − e^(−8000/8124)) = 5090 are met";
}

// (d,K) from the mean rewards of the first rounds, which are linear in the contexts without noise.
Eigen::MatrixXd coefficients_of(const Environment& problem) {
  const Eigen::Index rounds = 100, d = static_cast<Eigen::Index>(problem.context_size());
  Eigen::MatrixXd x(rounds, d), means(rounds, static_cast<Eigen::Index>(problem.actions()));
  for (Eigen::Index t = 0; t < rounds; ++t) {
    const Round round = round_of(problem, static_cast<std::size_t>(t));
    for (Eigen::Index j = 0; j < d; ++j) x(t, j) = round.context[static_cast<std::size_t>(j)];
    for (Eigen::Index a = 0; a < means.cols(); ++a) means(t, a) = round.mean_rewards[static_cast<std::size_t>(a)];
  }
  return x.colPivHouseholderQr().solve(means);
}

TEST(FinancialProblem, RewardsAreDotProductsPlusNoise) {
  PITS_SKIP_WITHOUT("financial");
  std::set<std::vector<float>> rows;
  for (const auto& line : lines_of("financial", 1, ' ')) {
    std::vector<float> row;
    for (const std::string& word : line) row.push_back(std::stof(word));
    rows.insert(row);
  }
  const auto problem = data_problem("financial", {.seed = 3, .realization = 4, .steps = 5000});
  ASSERT_EQ(problem.context_size(), 21U);
  ASSERT_EQ(problem.actions(), 8U);
  ASSERT_EQ(problem.horizon(), 3713U);
  const Eigen::MatrixXd beta = coefficients_of(problem);
  for (Eigen::Index a = 0; a < 8; ++a) EXPECT_NEAR(beta.col(a).norm(), 1.0, 1e-9);
  std::vector<double> noise;
  std::set<std::vector<float>> met;
  for (std::size_t t = 0; t < 3713; ++t) {
    const Round round = round_of(problem, t);
    ASSERT_TRUE(rows.contains(round.context)) << t;
    met.insert(round.context);
    for (std::size_t a = 0; a < 8; ++a) {
      double dot = 0.0;
      for (std::size_t j = 0; j < 21; ++j) {
        dot += static_cast<double>(round.context[j]) * beta(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(a));
      }
      ASSERT_NEAR(round.mean_rewards[a], dot, 1e-9);
      noise.push_back((round.rewards[a] - dot) / (0.01 * (static_cast<double>(a) + 1.0)));
    }
  }
  EXPECT_EQ(met.size(), rows.size());
  expect_normal_moments(noise, 0.0, 1.0);
  TableConfig endless = table_config(find_data_set("financial"));
  endless.rows.replace = true;
  EXPECT_EQ(TableEnvironment(endless, {}).horizon(), std::numeric_limits<std::size_t>::max());
}

// The file's numbers begin after a header of 128 bytes.
std::vector<std::vector<double>> jester_rows() {
  std::ifstream in(*locate_data_file(find_data_set("jester").files.front(), ""), std::ios::binary);
  in.seekg(128);
  std::vector<std::vector<double>> rows(19181, std::vector<double>(40));
  for (auto& row : rows) in.read(reinterpret_cast<char*>(row.data()), 40 * sizeof(double));
  EXPECT_TRUE(in);
  return rows;
}

// Which column of the file each of the 32 + 8 places shows, found from the values alone.
std::vector<std::size_t> column_order(const Environment& problem, const std::vector<std::vector<double>>& rows) {
  std::map<std::vector<double>, std::size_t> by_ratings;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> sorted;
    for (const double r : rows[i]) sorted.push_back(static_cast<float>(r));
    std::ranges::sort(sorted);
    by_ratings[sorted] = i;
  }
  std::vector<std::set<std::size_t>> candidates(40);
  for (auto& c : candidates) {
    for (std::size_t j = 0; j < 40; ++j) c.insert(j);
  }
  for (std::size_t t = 0; t < 100; ++t) {
    const Round round = round_of(problem, t);
    EXPECT_EQ(round.mean_rewards, round.rewards);
    EXPECT_EQ(round.best_mean(), *std::ranges::max_element(round.rewards));
    std::vector<double> shown(round.context.begin(), round.context.end());
    for (const double r : round.rewards) shown.push_back(static_cast<float>(r));
    std::vector<double> sorted = shown;
    std::ranges::sort(sorted);
    const auto found = by_ratings.find(sorted);
    if (found == by_ratings.end()) {
      ADD_FAILURE() << "round " << t << " is no row of the file";
      return {};
    }
    const std::vector<double>& row = rows[found->second];
    for (std::size_t p = 0; p < 40; ++p) {
      std::erase_if(candidates[p], [&](std::size_t j) { return static_cast<float>(row[j]) != shown[p]; });
    }
    for (std::size_t a = 0; a < 8; ++a) EXPECT_NE(std::ranges::find(row, round.rewards[a]), row.end()) << "to the bit";
  }
  std::vector<std::size_t> order;
  for (const auto& c : candidates) {
    EXPECT_EQ(c.size(), 1U);
    order.push_back(c.empty() ? 40 : *c.begin());
  }
  return order;
}

TEST(JesterProblem, ShowsRowsWithTheirColumnsInOneOrderARealization) {
  PITS_SKIP_WITHOUT("jester");
  const auto rows = jester_rows();
  std::vector<std::vector<std::size_t>> orders;
  for (const std::uint32_t realization : {0U, 1U}) {
    const auto problem = data_problem("jester", {.seed = 9, .realization = realization});
    ASSERT_EQ(problem.context_size(), 32U);
    ASSERT_EQ(problem.actions(), 8U);
    orders.push_back(column_order(problem, rows));
    EXPECT_EQ(std::set<std::size_t>(orders.back().begin(), orders.back().end()).size(), 40U);
  }
  EXPECT_NE(orders[0], orders[1]);
}

TEST(CensusProblem, StandardisesOneHotColumns) {
  PITS_SKIP_WITHOUT("census");
  const auto problem = data_problem("census", {.seed = 1, .steps = 400});
  const std::size_t d = problem.context_size();
  ASSERT_EQ(problem.actions(), 9U);
  std::vector<std::set<float>> values(d);
  std::vector<double> sum(d), squares(d);
  for (std::size_t t = 0; t < 400; ++t) {
    const Round round = round_of(problem, t);
    for (std::size_t j = 0; j < d; ++j) {
      values[j].insert(round.context[j]);
      sum[j] += static_cast<double>(round.context[j]);
      squares[j] += static_cast<double>(round.context[j]) * static_cast<double>(round.context[j]);
    }
  }
  for (std::size_t j = 0; j < d; ++j) {
    ASSERT_LE(values[j].size(), 2U);
    EXPECT_NEAR(sum[j] / 400.0, 0.0, 1e-5);
    EXPECT_NEAR(squares[j] / 400.0, values[j].size() == 2 ? 1.0 : 0.0, 1e-5) << "a constant column is 0";
  }
}

}  // namespace
}  // namespace pits::test
