#include "pits/evaluate/policy_terms.h"

#include <algorithm>
#include <cmath>

#include "pits/core/parallel.h"

namespace pits {
namespace {

constexpr std::size_t block_size = 4096;

// Sums over a block of rounds, added up in the order of the blocks.
struct BlockSums {
  std::vector<double> shares;  // (K)
  double unsupported = 0.0, truth = 0.0, largest_possible = 0.0;
};

class Walk {
 public:
  Walk(const LoggedData& data, std::span<const double> model, PolicyOnLog& out)
      : data_(data), model_(model), out_(out), blocks_((data.rounds() + block_size - 1) / block_size) {
    const std::size_t n = data.rounds();
    out.terms.reward = data.rewards;
    for (auto* column : {&out.terms.probability, &out.terms.weight, &out.terms.model_value}) column->resize(n);
    for (BlockSums& sums : blocks_) sums.shares.resize(data.K());
  }

  std::size_t blocks() const { return blocks_.size(); }

  void block(std::size_t b, JudgedPolicy& policy) {
    std::vector<double> p(data_.K());
    const std::size_t end = std::min((b + 1) * block_size, data_.rounds());
    for (std::size_t i = b * block_size; i < end; ++i) {
      policy.probabilities(data_, i, p);
      take(i, p, blocks_[b]);
      if (policy.learns()) policy.learn(data_, i);
    }
  }

  void finish() {
    const double n = static_cast<double>(data_.rounds());
    BlockSums all{.shares = std::vector<double>(data_.K())};
    for (const BlockSums& sums : blocks_) {
      for (Action a = 0; a < data_.K(); ++a) all.shares[a] += sums.shares[a] / n;
      all.unsupported += sums.unsupported / n;
      all.truth += sums.truth / n;
      all.largest_possible = std::max(all.largest_possible, sums.largest_possible);
    }
    out_.action_shares = all.shares;
    if (data_.knows_all_propensities()) out_.weights.unsupported = all.unsupported;
    if (!data_.true_means.empty()) out_.truth = all.truth;
    summarise(out_.terms.weight, all.largest_possible);
  }

 private:
  void take(std::size_t i, std::span<const double> p, BlockSums& sums) {
    const Action logged = data_.actions[i];
    const std::size_t K = data_.K();
    double value = 0.0;
    for (Action a = 0; a < K; ++a) {
      sums.shares[a] += p[a];
      if (!model_.empty()) value += p[a] * model_[i * K + a];
      if (!data_.true_means.empty() && p[a] > 0.0) sums.truth += p[a] * data_.true_means[i * K + a];
    }
    out_.terms.probability[i] = p[logged];
    out_.terms.weight[i] = p[logged] / data_.propensities[i];
    out_.terms.model_value[i] = value;
    if (!data_.knows_all_propensities()) return;
    const std::span<const float> own = data_.propensities_of(i);
    for (Action a = 0; a < K; ++a) {
      if (own[a] > 0.0F) {
        sums.largest_possible = std::max(sums.largest_possible, p[a] / own[a]);
      } else {
        sums.unsupported += p[a];
      }
    }
  }

  void summarise(const std::vector<double>& w, double largest_possible) {
    double sum = 0.0, squares = 0.0;
    WeightDiagnostics& out = out_.weights;
    for (const double v : w) {
      sum += v;
      squares += v * v;
      out.largest = std::max(out.largest, v);
    }
    const double n = static_cast<double>(w.size());
    out.mean = sum / n;
    out.effective_rounds = squares > 0.0 ? sum * sum / squares : 0.0;
    out.mean_error = n > 1.0 ? std::sqrt(std::max(0.0, squares / n - out.mean * out.mean) / (n - 1.0)) : 0.0;
    out.largest_possible = std::max(largest_possible, out.largest);
  }

  const LoggedData& data_;
  std::span<const double> model_;
  PolicyOnLog& out_;
  std::vector<BlockSums> blocks_;
};

}  // namespace

std::vector<PolicyOnLog> policies_on_log(const LoggedData& data,
                                         std::span<const std::unique_ptr<JudgedPolicy>> policies,
                                         std::span<const double> model, const std::function<void(std::size_t)>& done) {
  std::vector<PolicyOnLog> out(policies.size());
  std::vector<Walk> walks;
  walks.reserve(policies.size());
  for (PolicyOnLog& one : out) walks.emplace_back(data, model, one);
  struct Task {
    std::size_t policy, first, last;  // blocks
  };
  std::vector<Task> tasks;
  const std::size_t blocks = policies.empty() ? 0 : walks.front().blocks();
  for (std::size_t j = 0; j < policies.size(); ++j) {
    if (policies[j]->learns()) tasks.push_back({j, 0, blocks});
  }
  for (std::size_t j = 0; j < policies.size(); ++j) {
    for (std::size_t b = 0; !policies[j]->learns() && b < blocks; ++b) tasks.push_back({j, b, b + 1});
  }
  parallel_for(tasks.size(), [&](std::size_t t) {
    for (std::size_t b = tasks[t].first; b < tasks[t].last; ++b) {
      walks[tasks[t].policy].block(b, *policies[tasks[t].policy]);
      done(std::min(block_size, data.rounds() - b * block_size));
    }
  });
  for (Walk& walk : walks) walk.finish();
  return out;
}

}  // namespace pits
