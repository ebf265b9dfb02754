#include "pits/environment/product.h"

namespace pits {
namespace {

ProductConfig clicks(int actions, int dimension, double base_rate = 0.05) {
  return {.kind = ProductKind::click, .actions = actions, .dimension = dimension, .base_rate = base_rate};
}

ProductConfig numbers(int actions, int dimension, TruthConfig truth = {}) {
  return {.kind = ProductKind::drift, .actions = actions, .dimension = dimension, .truth = truth};
}

// `base` with other contexts.
ProductConfig with(ContextKind contexts, ProductConfig base) {
  base.contexts = contexts;
  return base;
}

// `base` with another truth.
ProductConfig with(TruthConfig truth, ProductConfig base) {
  base.truth = truth;
  return base;
}

ProductConfig with(RewardTiming timing, ProductConfig base) {
  base.timing = timing;
  return base;
}

ProductConfig newcomer(int appears, ProductConfig base) {
  base.appears = appears;
  return base;
}

std::vector<ProductPreset> rows() {
  constexpr TruthConfig constant{.kind = TruthKind::constant}, interactions{.kind = TruthKind::interactions};
  using enum ProductKind;
  ProductConfig same = with(constant, clicks(10, 20)), wide = clicks(10, 100);
  same.effect = 0.5;
  wide.effect = 0.7;
  ProductConfig offset = numbers(8, 10, interactions), noise = numbers(5, 6);
  offset.offset = 50.0;
  noise.noise_features = 100;
  return {
      {click, "plain", "5 % clicks, K=5, d=20", clicks(5, 20)},
      {click, "rare", "1 % clicks, K=5, d=20", clicks(5, 20, 0.01)},
      {click, "frequent", "20 % clicks, K=5, d=20", clicks(5, 20, 0.2)},
      {click, "constant", "one action is best for everybody, K=10, d=20", same},
      {click, "wide", "5 % clicks, K=10, d=100", wide},
      {click, "k20", "5 % clicks, K=20, d=40", clicks(20, 40)},
      {click, "k100", "5 % clicks, K=100, d=20", clicks(100, 20)},
      {click, "interactions", "20 % clicks, products of columns matter, K=5, d=10",
       with(interactions, clicks(5, 10, 0.2))},
      {click, "sentinel", "20 % clicks, −999 in a tenth of the cells, K=5, d=6",
       with(ContextKind::sentinel, clicks(5, 6, 0.2))},
      {click, "wander", "20 % clicks, the rates of actions wander, period 2,000",
       with(TruthConfig{.change = Change::wander, .period = 2000}, clicks(5, 20, 0.2))},
      {click, "new", "20 % clicks, the last action comes at round 2,000", newcomer(2000, clicks(5, 20, 0.2))},
      {click, "late", "20 % clicks, learned 100 decisions later", with(RewardTiming{.delay = 100}, clicks(5, 20, 0.2))},
      {click, "later", "20 % clicks, learned 1,000 decisions later",
       with(RewardTiming{.delay = 1000}, clicks(5, 20, 0.2))},
      {click, "batches", "20 % clicks, learned in batches of 1,000",
       with(RewardTiming{.batch = 1000}, clicks(5, 20, 0.2))},
      {revenue,
       "plain",
       "3 % of the rounds pay, K=5, d=20",
       {.kind = revenue, .actions = 5, .dimension = 20, .base_rate = 0.03, .noise = 1.0}},
      {price, "plain", "20 prices, d=20", {.kind = price, .actions = 20, .dimension = 20, .effect = 0.5, .noise = 0.3}},
      {drift, "drift", "weights drift, period 3,000, K=5, d=10",
       numbers(5, 10, {.change = Change::drift, .period = 3000})},
      {drift, "switch", "another truth every 2,000 rounds, K=5, d=10",
       numbers(5, 10, {.change = Change::switch_, .period = 2000})},
      {drift, "wander", "the levels of actions wander, period 2,000, K=5, d=10",
       numbers(5, 10, {.change = Change::wander, .period = 2000})},
      {drift, "still", "a linear truth that does not change, K=5, d=10", numbers(5, 10)},
      {drift, "d60", "linear, d=60", numbers(5, 60)},
      {drift, "d70", "linear, d=70", numbers(5, 70)},
      {drift, "interactions", "products of columns matter, K=8, d=10", numbers(8, 10, interactions)},
      {drift, "offset", "the same, 50 added to every reward", offset},
      {drift, "lognormal", "lognormal contexts, K=5, d=10", with(ContextKind::lognormal, numbers(5, 10))},
      {drift, "cauchy", "Cauchy contexts, K=5, d=10", with(ContextKind::cauchy, numbers(5, 10))},
      {drift, "sentinel", "−999 in a tenth of the cells, K=5, d=6", with(ContextKind::sentinel, numbers(5, 6))},
      {drift, "noise", "100 columns that do not matter beside 6, K=5", noise},
      {drift, "new", "the last action comes at round 2,000, K=5, d=10", newcomer(2000, numbers(5, 10))},
  };
}

}  // namespace

const std::vector<ProductPreset>& product_presets() {
  static const std::vector<ProductPreset> all = rows();
  return all;
}

}  // namespace pits
