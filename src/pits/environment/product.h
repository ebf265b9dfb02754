// Problems shaped like products: clicks, revenue, prices, and numeric rewards whose truth changes.
//
// All are a score of the context (product_truth.h) and a rule that makes rewards of it:
//   click    1 with probability σ(b + s_a), else 0
//   revenue  with that probability e^(v_a/2 + σz − σ²/2), else 0; v_a is a second score
//   price    p_a where e^(s + σz) ≥ p_a, else 0: what the visitor would pay; prices p_a = 3(a+1)/K
//   drift    s_a + σz
// with s_a the score times `effect`, σ the field noise and z ~ N(0,1). b makes the mean probability base_rate. At last
// a reward r becomes offset + scale·r.
#pragma once

#include "pits/core/fields.h"
#include "pits/environment/product_truth.h"

namespace pits {

enum class ProductKind { click, revenue, price, drift };

struct ProductConfig {
  ProductKind kind = ProductKind::click;
  int actions = 5;         // K
  int dimension = 20;      // d
  int noise_features = 0;  // columns beside the d
  ContextKind contexts = ContextKind::mixed;
  TruthConfig truth{};
  double effect = 1.0;
  double base_rate = 0.05;  // click, revenue
  double noise = 0.5;       // the others and revenue
  int appears = 0;          // the round from which the last action is allowed; 0: from the first
  double offset = 0.0;
  double scale = 1.0;
  RewardTiming timing{};
};
Fields fields(ProductConfig& config);

// Named problems: one table (product_presets.cpp). The first of a kind is its default.
struct ProductPreset {
  ProductKind kind;
  std::string_view name, summary;
  ProductConfig config;
};
const std::vector<ProductPreset>& product_presets();

class Product : public Environment {
 public:
  Product(const ProductConfig& config, const EnvironmentSetup& setup);

  std::size_t context_size() const override { return contexts_.size(); }
  std::size_t actions() const override { return static_cast<std::size_t>(config_.actions); }
  RewardTiming timing() const override { return config_.timing; }
  bool masks_actions() const override { return config_.appears > 0; }
  void draw(std::size_t t, Round& round) const override;

 private:
  Eigen::VectorXd scores(const Eigen::VectorXd& seen, std::size_t t) const;
  void calibrate();
  void pay(const Eigen::VectorXd& scores, Stream stream, Round& round) const;

  ProductConfig config_;
  EnvironmentSetup setup_;
  ProductContexts contexts_;
  ProductTruth truth_;
  double newcomer_ = 0.0;   // added to the score of an action that appears: best for half of the contexts
  double intercept_ = 0.0;  // b
};

}  // namespace pits
