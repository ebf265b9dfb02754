// The benchmark's data sets as tables (docs/experiments.md), each loaded once and shared.
#pragma once

#include <memory>

#include "pits/data/table.h"

namespace pits {

// `data_dir` as in data/catalogue.h.
std::shared_ptr<const Table> statlog_table(const std::string& data_dir);
std::shared_ptr<const Table> covertype_table(const std::string& data_dir);
std::shared_ptr<const Table> adult_table(const std::string& data_dir);
std::shared_ptr<const Table> census_table(const std::string& data_dir);
std::shared_ptr<const Table> mushroom_table(const std::string& data_dir);   // classes e, p
std::shared_ptr<const Table> financial_table(const std::string& data_dir);  // contexts only

inline constexpr std::size_t jester_jokes = 40;

// The ratings of all jokes, as contexts and as rewards: a realization decides which column is what.
std::shared_ptr<const Table> jester_table(const std::string& data_dir);

}  // namespace pits
