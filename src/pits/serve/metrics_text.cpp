#include "pits/serve/metrics_text.h"

#include <fmt/format.h>

namespace pits {
namespace {

// Backslash, quote and line feed are escaped, as the format says.
std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

void MetricsText::head(std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void MetricsText::sample(std::string_view name, const Labels& labels, double value) {
  text_ += name;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    fmt::format_to(std::back_inserter(text_), "{}{}=\"{}\"", i == 0 ? "{" : ",", labels[i].first,
                   escaped(labels[i].second));
  }
  fmt::format_to(std::back_inserter(text_), "{} {}\n", labels.empty() ? "" : "}", value);
}

void MetricsText::add(std::string_view name, std::string_view type, std::string_view help, double value) {
  head(name, type, help);
  sample(name, {}, value);
}

void MetricsText::histogram(std::string_view name, const Labels& labels, const LatencyHistogram::Counts& counts,
                            double sum) {
  constexpr std::size_t step = 4;  // one bucket per doubling is enough for alerts
  Labels with_bound = labels;
  with_bound.emplace_back("le", "");
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    if (i % step != 0) continue;
    with_bound.back().second = fmt::format("{:.6g}", LatencyHistogram::upper_bound(i));
    sample(fmt::format("{}_bucket", name), with_bound, static_cast<double>(below));
  }
  with_bound.back().second = "+Inf";
  sample(fmt::format("{}_bucket", name), with_bound, static_cast<double>(below));
  sample(fmt::format("{}_sum", name), labels, sum);
  sample(fmt::format("{}_count", name), labels, static_cast<double>(below));
}

std::string route_label(const Route& route) {
  return route.id == RouteId::other ? "other" : fmt::format("{} {}", route.method, route.path);
}

}  // namespace pits
