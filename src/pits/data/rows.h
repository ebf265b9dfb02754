// Contexts as sparse rows (CSR): one-hot columns cost nothing where they are zero.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pits {

class SparseRows {
 public:
  struct Row {
    std::span<const std::uint32_t> columns;  // ascending
    std::span<const float> values;           // none of them zero
  };

  explicit SparseRows(std::size_t width = 0) : width_(width) {}

  std::size_t size() const { return starts_.size() - 1; }
  std::size_t width() const { return width_; }
  Row operator[](std::size_t i) const {
    const std::size_t from = starts_[i], n = starts_[i + 1] - from;
    return {{columns_.data() + from, n}, {values_.data() + from, n}};
  }

  // Numbers of the row that is being added, columns ascending; zeros are left out.
  void add(std::size_t column, float value) {
    if (value == 0.0F) return;
    columns_.push_back(static_cast<std::uint32_t>(column));
    values_.push_back(value);
  }
  void end_row() { starts_.push_back(columns_.size()); }
  void set_width(std::size_t width) { width_ = width; }
  // Column c becomes to[c]; the new columns of a row must ascend as the old ones do.
  void rename_columns(std::span<const std::uint32_t> to) {
    for (std::uint32_t& column : columns_) column = to[column];
  }
  void shrink_to_fit() {
    starts_.shrink_to_fit();
    columns_.shrink_to_fit();
    values_.shrink_to_fit();
  }

 private:
  std::size_t width_;
  std::vector<std::uint64_t> starts_{0};
  std::vector<std::uint32_t> columns_;
  std::vector<float> values_;
};

}  // namespace pits
