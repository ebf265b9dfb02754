// Fills the vector of a context from its named values, whoever reads them.
#pragma once

#include "pits/schema/schema.h"

namespace pits {

class ContextValues {
 public:
  // x, (d), must outlive it.
  ContextValues(const Schema& schema, std::span<float> x);

  // Name, then value, of each member of the context. An Error names the feature.
  void name(std::string_view name);
  void value(const FeatureValue& value);
  // Features that had no value.
  void finish();

 private:
  Error unknown_feature(std::string_view name) const;

  const Schema& schema_;
  std::span<float> x_;
  std::vector<std::uint8_t> seen_;
  std::size_t feature_ = 0;
};

}  // namespace pits
