#include "pits/environment/product.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pits {
namespace {

constexpr std::size_t calibration_contexts = 1000;
constexpr double size_effect = 0.5;    // of revenue: sizes of payments differ less than their probability
constexpr double highest_price = 3.0;  // the median visitor pays up to 1

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

bool has_rate(ProductKind kind) { return kind == ProductKind::click || kind == ProductKind::revenue; }

std::size_t truth_rows(const ProductConfig& c) {
  if (c.kind == ProductKind::price) return 1;
  return static_cast<std::size_t>(c.kind == ProductKind::revenue ? 2 * c.actions : c.actions);
}

const char* noise_doc(ProductKind kind) {
  if (kind == ProductKind::revenue) return "standard deviation of the logarithm of a payment";
  if (kind == ProductKind::price) return "standard deviation of the logarithm of the willingness to pay";
  return "standard deviation of the rewards' noise";
}

const ProductConfig& fitting(const ProductConfig& c) {
  if (c.appears > 0 && c.actions < 2) throw bad_input("appears: actions must be at least 2, not {}", c.actions);
  if (c.appears > 0 && c.truth.kind == TruthKind::constant) {
    throw bad_input("appears: the truth must depend on the context, so not truth=constant");
  }
  return c;
}

// The b for which σ(b + s) has mean `rate` over the scores s. It is increasing in b.
double logistic_intercept(const std::vector<double>& scores, double rate) {
  double low = -60.0, high = 60.0;
  for (int i = 0; i < 60; ++i) {
    const double b = 0.5 * (low + high);
    double sum = 0.0;
    for (const double s : scores) sum += logistic(b + s);
    (sum < rate * static_cast<double>(scores.size()) ? low : high) = b;
  }
  return 0.5 * (low + high);
}

}  // namespace

Fields fields(ProductConfig& c) {
  Fields list;
  list.add("actions", c.actions, "number of actions K", between(1, 1e4))
      .add("dimension", c.dimension, "columns of a context that matter, d", between(1, 1e4))
      .add("noise_features", c.noise_features, "columns beside them that do not matter", between(0, 1e4))
      .add("contexts", c.contexts,
           "mixed: half numbers, half one-hot levels; else numbers of this distribution (sentinel: normal, −999 in a "
           "tenth of the cells of six columns)")
      .add("truth", c.truth.kind, "how rewards depend on the context; constant: not at all")
      .add("effect", c.effect, "standard deviation of the scores that make rewards", at_least(0));
  if (has_rate(c.kind)) {
    list.add("base_rate", c.base_rate, "mean probability of a reward that is not 0, over contexts and actions",
             Range{.low = 0.0, .high = 0.99, .low_open = true});
  }
  if (c.kind != ProductKind::click) list.add("noise", c.noise, noise_doc(c.kind), between(0, 5));
  list.add("change", c.truth.change,
           "switch: a new truth every period; drift: it moves all the time; wander: only the actions' levels do")
      .add("period", c.truth.period, "rounds of a change", between(1, 1e9));
  if (c.kind != ProductKind::price) {
    list.add("appears", c.appears,
             "round before which the last action is not allowed; it is best for half of the contexts", between(0, 1e9));
  }
  list.add("offset", c.offset, "added to every reward", between(-1e6, 1e6))
      .add("scale", c.scale, "times every reward", Range{.low = 0.0, .high = 1e6, .low_open = true})
      .add("delay", c.timing.delay, "decisions between a reward's own and the one after which it is learned",
           between(0, 1e6))
      .add("batch", c.timing.batch, "rewards that are learned together", between(1, 1e6));
  return list;
}

Product::Product(const ProductConfig& config, const EnvironmentSetup& setup)
    : config_(fitting(checked(config))),
      setup_(setup),
      contexts_(config.contexts, static_cast<std::size_t>(config.dimension),
                static_cast<std::size_t>(config.noise_features)),
      truth_(config.truth, truth_rows(config), contexts_, setup) {
  if (has_rate(config.kind) || config.appears > 0) calibrate();
}

// newcomer_, then intercept_, over contexts that no round has.
void Product::calibrate() {
  Stream stream({setup_.seed, setup_.realization, Purpose::environment_setup, ~std::uint32_t{0}});
  const Eigen::Index K = config_.actions;
  std::vector<Eigen::VectorXd> seen(calibration_contexts);
  std::vector<float> context;
  for (Eigen::VectorXd& x : seen) contexts_.draw(stream, context, x);
  if (config_.appears > 0) {
    std::vector<double> behind;  // the best of the others
    for (const Eigen::VectorXd& x : seen) {
      const Eigen::VectorXd s = scores(x, static_cast<std::size_t>(config_.appears));
      behind.push_back(s.head(K - 1).maxCoeff() - s[K - 1]);
    }
    const auto middle = behind.begin() + std::ssize(behind) / 2;
    std::ranges::nth_element(behind, middle);
    newcomer_ = *middle;
  }
  if (!has_rate(config_.kind)) return;
  std::vector<double> all;
  for (const Eigen::VectorXd& x : seen) {
    const Eigen::VectorXd s = scores(x, 0);
    all.insert(all.end(), s.begin(), s.begin() + K);
  }
  intercept_ = logistic_intercept(all, config_.base_rate);
}

Eigen::VectorXd Product::scores(const Eigen::VectorXd& seen, std::size_t t) const {
  Eigen::VectorXd s = config_.effect * truth_.scores(seen, t);
  if (config_.appears > 0) s[config_.actions - 1] += newcomer_;
  return s;
}

void Product::pay(const Eigen::VectorXd& scores, Stream stream, Round& round) const {
  const ProductConfig& c = config_;
  const Eigen::Index K = c.actions;
  const double visitor = c.kind == ProductKind::price ? stream.normal() : 0.0;
  for (Eigen::Index a = 0; a < K; ++a) {
    double& reward = round.rewards[static_cast<std::size_t>(a)];
    double& mean = round.mean_rewards[static_cast<std::size_t>(a)];
    switch (c.kind) {
      case ProductKind::click:
        mean = logistic(intercept_ + scores[a]);
        reward = stream.uniform() < mean ? 1.0 : 0.0;
        break;
      case ProductKind::revenue: {
        const double p = logistic(intercept_ + scores[a]), size = std::exp(size_effect * scores[K + a]);
        mean = p * size;
        const bool pays = stream.uniform() < p;
        reward = pays ? size * std::exp(c.noise * stream.normal() - 0.5 * c.noise * c.noise) : 0.0;
        break;
      }
      case ProductKind::price: {
        const double price = highest_price * static_cast<double>(a + 1) / static_cast<double>(K);
        const double margin = scores[0] - std::log(price);
        const bool surely = c.noise == 0.0 && margin >= 0.0;
        mean = price * (c.noise > 0.0 ? normal_cdf(margin / c.noise) : surely ? 1.0 : 0.0);
        reward = margin + c.noise * visitor >= 0.0 ? price : 0.0;
        break;
      }
      case ProductKind::drift:
        mean = scores[a];
        reward = mean + c.noise * stream.normal();
        break;
    }
    reward = c.offset + c.scale * reward;
    mean = c.offset + c.scale * mean;
  }
}

void Product::draw(std::size_t t, Round& round) const {
  Stream stream = round_stream(setup_, Purpose::environment_context, t);
  thread_local Eigen::VectorXd seen;
  contexts_.draw(stream, round.context, seen);
  round.rewards.resize(actions());
  round.mean_rewards.resize(actions());
  pay(scores(seen, t), round_stream(setup_, Purpose::environment_reward, t), round);
  const bool all = t >= static_cast<std::size_t>(config_.appears);
  round.allowed.assign(all ? 0 : actions(), 1);
  if (!all) round.allowed.back() = 0;
}

}  // namespace pits
