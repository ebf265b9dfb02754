// The rows of a table that a realization plays, in its order, as dense contexts.
#pragma once

#include "pits/core/fields.h"
#include "pits/core/random.h"
#include "pits/data/rows.h"
#include "pits/environment/environment.h"

namespace pits {

// rows: mean 0 and population standard deviation 1 over the rows of the realization, constant columns 0.
enum class Standardise { rows, none };
template <>
inline constexpr auto enum_names<Standardise> = std::array{"rows", "none"};

struct RowsConfig {
  Standardise standardise = Standardise::rows;
  bool replace = false;  // draw rows with replacement: the problem has no end
};

// `count` of 0..n−1 in random order, without repetition: the first steps of a Fisher-Yates shuffle.
std::vector<std::uint32_t> draw_distinct(const Address& address, std::size_t n, std::size_t count);

class RowContexts {
 public:
  // Keeps a reference to `table`. The context is made of its `columns`, in that order; none: of all columns.
  RowContexts(const SparseRows& table, const RowsConfig& config, const EnvironmentSetup& setup,
              std::span<const std::uint32_t> columns = {});

  std::size_t size() const { return mean_.size(); }  // d
  std::size_t horizon() const;                       // rounds until the rows are used up
  std::size_t row(std::size_t t) const;              // of the table, in round t
  void fill(std::size_t row, std::vector<float>& context) const;

 private:
  void measure(std::size_t rounds);
  template <class Visit>
  void visit(std::size_t row, const Visit& visit) const;  // (place in the context, value) of what is not zero

  const SparseRows& table_;
  EnvironmentSetup setup_;
  bool replace_;
  std::vector<std::uint32_t> order_;  // row of each round; empty with replacement
  std::vector<std::uint32_t> place_;  // of each column of the table in the context; `nowhere`: it is not in it
  std::vector<double> mean_, sd_;     // (d); 0 and 1 where contexts stay as they are
  std::vector<float> zero_;           // (d) what an entry of 0 becomes
};

}  // namespace pits
