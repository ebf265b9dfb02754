#include "pits/target/assignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "pits/core/error.h"

namespace pits {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
constexpr double infinite = std::numeric_limits<double>::infinity();

// Rows join one at a time. The prices keep every reduced cost cost(i,j) − u_i − v_j at least 0, and 0 where matched,
// so that the shortest path from a new row to a free column is found as by Dijkstra.
class Matching {
 public:
  explicit Matching(ConstMatrixView<double> cost)
      : cost_(cost), n_(cost.rows()), u_(n_, 0.0), v_(n_, 0.0), row_of_(n_, none), column_of_(n_, none) {
    reduce_columns();
  }

  // Extends the matching by `start` along a shortest augmenting path.
  void add_row(std::size_t start) {
    if (column_of_[start] != none) return;
    distance_.assign(n_, infinite);
    previous_.assign(n_, none);
    done_.assign(n_, false);
    std::size_t row = start;
    double reached = 0.0;
    std::size_t column = none;
    do {
      relax(row, reached);
      column = nearest_open();
      reached = distance_[column];
      done_[column] = true;
      row = row_of_[column];
    } while (row != none);
    update_prices(start, reached, column);
    flip_path(start, column);
  }

  std::vector<std::size_t> columns() const { return column_of_; }

 private:
  // Prices each column at its cheapest row and matches where that row is still free: most rows of a random
  // problem need no search afterwards.
  void reduce_columns() {
    for (std::size_t j = 0; j < n_; ++j) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < n_; ++i) {
        if (cost_(i, j) < cost_(best, j)) best = i;
      }
      v_[j] = cost_(best, j);
      if (column_of_[best] == none) {
        column_of_[best] = j;
        row_of_[j] = best;
      }
    }
  }

  void relax(std::size_t row, double reached) {
    for (std::size_t j = 0; j < n_; ++j) {
      if (done_[j]) continue;
      const double d = reached + (cost_(row, j) - u_[row] - v_[j]);
      if (d < distance_[j]) {
        distance_[j] = d;
        previous_[j] = row;
      }
    }
  }

  // The open column of least distance; a free one among equals, which ends the search early.
  std::size_t nearest_open() const {
    std::size_t best = none;
    for (std::size_t j = 0; j < n_; ++j) {
      if (done_[j]) continue;
      if (best == none || distance_[j] < distance_[best] ||
          (distance_[j] == distance_[best] && row_of_[j] == none && row_of_[best] != none)) {
        best = j;
      }
    }
    return best;
  }

  void update_prices(std::size_t start, double length, std::size_t last) {
    u_[start] += length;
    for (std::size_t j = 0; j < n_; ++j) {
      if (!done_[j] || j == last) continue;
      v_[j] -= length - distance_[j];
      u_[row_of_[j]] += length - distance_[j];
    }
  }

  void flip_path(std::size_t start, std::size_t column) {
    for (std::size_t row = none; row != start;) {
      row = previous_[column];
      row_of_[column] = row;
      std::swap(column, column_of_[row]);
    }
  }

  ConstMatrixView<double> cost_;
  std::size_t n_;
  std::vector<double> u_;  // prices of rows
  std::vector<double> v_;  // prices of columns
  std::vector<std::size_t> row_of_;
  std::vector<std::size_t> column_of_;
  std::vector<double> distance_;  // of columns, from the row that joins
  std::vector<std::size_t> previous_;
  std::vector<char> done_;
};

}  // namespace

std::vector<std::size_t> optimal_assignment(ConstMatrixView<double> cost) {
  if (cost.rows() != cost.cols()) {
    throw bad_input("optimal_assignment: cost must be square, not {} by {}", cost.rows(), cost.cols());
  }
  if (!std::ranges::all_of(cost.flat(), [](double c) { return std::isfinite(c); })) {
    throw bad_input("optimal_assignment: every cost must be finite");
  }
  Matching matching(cost);
  for (std::size_t i = 0; i < cost.rows(); ++i) matching.add_row(i);
  return matching.columns();
}

}  // namespace pits
