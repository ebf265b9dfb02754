#include "pits/environment/row_contexts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "pits/core/interrupt.h"

namespace pits {
namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

}  // namespace

// Only what has moved is kept, so that memory grows with `count`, not with n.
std::vector<std::uint32_t> draw_distinct(const Address& address, std::size_t n, std::size_t count) {
  Stream stream(address);
  std::unordered_map<std::uint32_t, std::uint32_t> moved;
  const auto at = [&](std::uint32_t i) {
    const auto found = moved.find(i);
    return found == moved.end() ? i : found->second;
  };
  std::vector<std::uint32_t> chosen;
  chosen.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    check_interrupt();
    const std::uint32_t j = i + stream.index(static_cast<std::uint32_t>(n) - i);
    chosen.push_back(at(j));
    moved[j] = at(i);
  }
  return chosen;
}

RowContexts::RowContexts(const SparseRows& table, const RowsConfig& config, const EnvironmentSetup& setup,
                         std::span<const std::uint32_t> columns)
    : table_(table), setup_(setup), replace_(config.replace), place_(table.width(), nowhere) {
  const std::size_t d = columns.empty() ? table.width() : columns.size();
  if (columns.empty()) std::iota(place_.begin(), place_.end(), 0U);
  for (std::uint32_t i = 0; i < columns.size(); ++i) place_.at(columns[i]) = i;
  const std::size_t rounds = replace_ ? setup.steps : std::min(setup.steps, table.size());
  if (!replace_) {
    order_ = draw_distinct({setup.seed, setup.realization, Purpose::environment_setup}, table.size(), rounds);
  }
  mean_.assign(d, 0.0);
  sd_.assign(d, 1.0);
  if (config.standardise == Standardise::rows) measure(rounds);
  zero_.resize(d);
  for (std::size_t j = 0; j < zero_.size(); ++j) zero_[j] = static_cast<float>((0.0 - mean_[j]) / sd_[j]);
}

std::size_t RowContexts::horizon() const { return replace_ ? std::numeric_limits<std::size_t>::max() : order_.size(); }

std::size_t RowContexts::row(std::size_t t) const {
  if (!replace_) return order_.at(t);
  return round_stream(setup_, Purpose::environment_context, t).index(static_cast<std::uint32_t>(table_.size()));
}

template <class Visit>
void RowContexts::visit(std::size_t row, const Visit& visit) const {
  const SparseRows::Row entries = table_[row];
  for (std::size_t k = 0; k < entries.columns.size(); ++k) {
    const std::uint32_t place = place_[entries.columns[k]];
    if (place != nowhere) visit(place, entries.values[k]);
  }
}

void RowContexts::fill(std::size_t row, std::vector<float>& context) const {
  context.assign(zero_.begin(), zero_.end());
  visit(row, [&](std::size_t j, float x) { context[j] = static_cast<float>((x - mean_[j]) / sd_[j]); });
}

// Two passes; zeros, which the rows leave out, are counted in.
void RowContexts::measure(std::size_t rounds) {
  struct Column {
    double sum = 0.0, squares = 0.0;
    float low = 0.0F, high = 0.0F;
    std::size_t entries = 0;
  };
  std::vector<Column> columns(mean_.size());
  for (std::size_t t = 0; t < rounds; ++t) {
    check_interrupt();
    visit(row(t), [&](std::size_t j, float x) {
      Column& c = columns[j];
      c.low = c.entries == 0 ? x : std::min(c.low, x);
      c.high = c.entries == 0 ? x : std::max(c.high, x);
      c.sum += x;
      ++c.entries;
    });
  }
  const auto n = static_cast<double>(rounds);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    Column& c = columns[j];
    const bool constant = c.entries == 0 || (c.entries == rounds && c.low == c.high);
    mean_[j] = constant ? c.low : c.sum / n;
    c.squares = static_cast<double>(rounds - c.entries) * mean_[j] * mean_[j];
  }
  for (std::size_t t = 0; t < rounds; ++t) {
    check_interrupt();
    visit(row(t), [&](std::size_t j, float x) { columns[j].squares += (x - mean_[j]) * (x - mean_[j]); });
  }
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].squares > 0.0) sd_[j] = std::sqrt(columns[j].squares / n);
  }
}

}  // namespace pits
