#include "pits/data/table.h"

#include <algorithm>
#include <numeric>

namespace pits {
namespace {

std::uint32_t checked_code(Levels& levels, std::string_view level, std::size_t column, const Place& place) {
  const std::uint32_t code = levels.code(level);
  if (levels.size() <= most_levels) return code;
  throw place.wrong("column {} has more than {} levels, too many for a category", column + 1, most_levels);
}

}  // namespace

std::uint32_t Levels::code(std::string_view level) {
  const auto known = codes_.find(level);
  if (known != codes_.end()) return known->second;
  const auto fresh = static_cast<std::uint32_t>(names_.size());
  codes_.emplace(level, fresh);
  names_.emplace_back(level);
  return fresh;
}

std::vector<std::uint32_t> Levels::order() const {
  std::vector<std::uint32_t> codes(names_.size());
  std::iota(codes.begin(), codes.end(), 0U);
  std::vector<double> numbers(names_.size());
  bool all_numbers = true;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    all_numbers = all_numbers && (names_[i].empty() || read_number(names_[i], numbers[i]));  // empty: missing
  }
  if (!all_numbers) std::ranges::fill(numbers, 0.0);
  std::ranges::sort(codes, [&](std::uint32_t a, std::uint32_t b) {
    return numbers[a] != numbers[b] ? numbers[a] < numbers[b] : names_[a] < names_[b];
  });
  return codes;
}

std::vector<std::string> Levels::sorted() const {
  std::vector<std::string> names;
  for (const std::uint32_t code : order()) names.push_back(names_[code]);
  return names;
}

std::vector<std::uint32_t> Levels::ranks() const {
  const std::vector<std::uint32_t> codes = order();
  std::vector<std::uint32_t> ranks(codes.size());
  for (std::uint32_t rank = 0; rank < codes.size(); ++rank) ranks[codes[rank]] = rank;
  return ranks;
}

TableBuilder::TableBuilder(const std::vector<ColumnKind>& columns, std::vector<std::string> names)
    : width_(columns.size()), names_(std::move(names)), label_column_(columns.size()) {
  names_.resize(width_);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (names_[i].empty()) names_[i] = fmt::format("{}", i + 1);
    if (columns[i] == ColumnKind::numeric) numeric_.push_back({.column = i, .encoder = FeatureEncoder({names_[i]})});
    if (columns[i] == ColumnKind::categorical) categorical_.push_back({.column = i});
    if (columns[i] == ColumnKind::label) label_column_ = i;
    if (columns[i] == ColumnKind::reward) rewards_.push_back(i);
  }
  columns_ = static_cast<std::uint32_t>(numeric_.size());
}

// One-hot entries get provisional columns in order of appearance, so that rows are stored once; finish() renames the
// columns in place.
void TableBuilder::add(std::span<const std::string_view> fields, const Place& place) {
  if (fields.size() != width_) throw place.wrong("{} fields, not {}", fields.size(), width_);
  for (std::size_t i = 0; i < numeric_.size(); ++i) {
    const double number = parse_number(fields[numeric_[i].column], numeric_[i].column, place);
    table_.contexts.add(i, numeric_[i].encoder.entries(number).list[0].second);
  }
  for (Category& c : categorical_) {
    const std::uint32_t code = checked_code(c.levels, fields[c.column], c.column, place);
    if (code == c.provisional.size()) c.provisional.push_back(columns_++);
    table_.contexts.add(c.provisional[code], 1.0F);
  }
  table_.contexts.end_row();
  for (const std::size_t column : rewards_) table_.rewards.push_back(parse_number(fields[column], column, place));
  if (label_column_ < width_) {
    table_.labels.push_back(checked_code(label_levels_, fields[label_column_], label_column_, place));
  }
}

Feature TableBuilder::feature_of(const Category& category) const {
  Feature feature{.name = names_[category.column], .kind = FeatureKind::category, .levels = category.levels.sorted()};
  if (std::erase(feature.levels, "") > 0) feature.missing = Otherwise::level;
  if (feature.levels.empty()) throw bad_input("column '{}' has no values; leave it out", feature.name);
  return feature;
}

// Which column a level has is what the schema says.
void TableBuilder::encode_levels() {
  std::vector<Feature> features;
  for (const Number& n : numeric_) features.push_back(n.encoder.feature());
  for (const Category& c : categorical_) features.push_back(feature_of(c));
  if (features.empty()) return;
  table_.schema.emplace(std::move(features));
  std::vector<std::uint32_t> to(columns_);
  std::iota(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(numeric_.size()), 0U);
  for (std::size_t i = 0; i < categorical_.size(); ++i) {
    const Category& c = categorical_[i];
    for (std::size_t code = 0; code < c.provisional.size(); ++code) {
      const std::string& level = c.levels.names()[code];
      const FeatureValue value = level.empty() ? FeatureValue(NoValue{}) : FeatureValue(std::string_view(level));
      to[c.provisional[code]] =
          static_cast<std::uint32_t>(table_.schema->entries(numeric_.size() + i, value).list[0].first);
    }
    table_.one_hot.push_back({.column = c.column, .levels = c.levels.size()});
  }
  table_.contexts.rename_columns(to);
}

Table TableBuilder::finish() && {
  encode_levels();
  table_.contexts.set_width(columns_);
  table_.contexts.shrink_to_fit();
  const std::vector<std::uint32_t> ranks = label_levels_.ranks();
  for (std::uint32_t& label : table_.labels) label = ranks[label];
  table_.labels.shrink_to_fit();
  table_.rewards.shrink_to_fit();
  table_.reward_columns = rewards_.size();
  table_.classes = label_levels_.sorted();
  return std::move(table_);
}

}  // namespace pits
