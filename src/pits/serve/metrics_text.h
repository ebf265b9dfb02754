// The text format of Prometheus.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pits/serve/request_metrics.h"
#include "pits/serve/routes.h"

namespace pits {

class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  // The lines before a metric's samples; then the samples.
  void head(std::string_view name, std::string_view type, std::string_view help);
  void sample(std::string_view name, const Labels& labels, double value);
  // Both, for a metric without labels.
  void add(std::string_view name, std::string_view type, std::string_view help, double value);
  void histogram(std::string_view name, const Labels& labels, const LatencyHistogram::Counts& counts, double sum);
  std::string finish() { return std::move(text_); }

 private:
  std::string text_;
};

// "POST /v1/bandits/{name}/decide"
std::string route_label(const Route& route);

}  // namespace pits
