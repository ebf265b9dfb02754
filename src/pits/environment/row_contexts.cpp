#include "pits/environment/row_contexts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace pits {
namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

}  // namespace

const std::vector<std::string>& EnumNames<Standardise>::names() {
  static const std::vector<std::string> names = {"rows", "none"};
  return names;
}

Fields fields(RowsConfig& c) {
  return Fields{}
      .add("standardise", c.standardise, "rows: mean 0 and std 1 over the rows of a realization; none: as they are")
      .add("replace", c.replace, "draw rows with replacement, so that the problem has no end");
}

// Only what has moved is kept, so that memory goes with `count`, not with n.
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
    const std::uint32_t j = i + stream.index(static_cast<std::uint32_t>(n) - i);
    chosen.push_back(at(j));
    moved[j] = at(i);
  }
  return chosen;
}

RowContexts::RowContexts(const SparseRows& table, const RowsConfig& config, const EnvironmentSetup& setup,
                         std::vector<std::uint32_t> columns)
    : table_(table), setup_(setup), replace_(config.replace), place_(table.width(), nowhere) {
  if (columns.empty()) {
    columns.resize(table.width());
    std::iota(columns.begin(), columns.end(), 0U);
  }
  for (std::uint32_t i = 0; i < columns.size(); ++i) place_.at(columns[i]) = i;
  const std::size_t rounds = replace_ ? setup.steps : std::min(setup.steps, table.size());
  if (!replace_) {
    order_ = draw_distinct({setup.seed, setup.realization, Purpose::environment_setup}, table.size(), rounds);
  }
  mean_.assign(columns.size(), 0.0);
  sd_.assign(columns.size(), 1.0);
  if (config.standardise == Standardise::rows) measure(rounds);
  zero_.resize(columns.size());
  for (std::size_t j = 0; j < zero_.size(); ++j) zero_[j] = static_cast<float>((0.0 - mean_[j]) / sd_[j]);
}

std::size_t RowContexts::horizon() const { return replace_ ? std::numeric_limits<std::size_t>::max() : order_.size(); }

std::size_t RowContexts::row(std::size_t t) const {
  if (!replace_) return order_.at(t);
  Stream stream({setup_.seed, setup_.realization, Purpose::environment_context, static_cast<std::uint32_t>(t)});
  return stream.index(static_cast<std::uint32_t>(table_.size()));
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
    visit(row(t), [&](std::size_t j, float x) { columns[j].squares += (x - mean_[j]) * (x - mean_[j]); });
  }
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].squares > 0.0) sd_[j] = std::sqrt(columns[j].squares / n);
  }
}

}  // namespace pits
