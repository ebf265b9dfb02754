// A data set of the catalogue as a table.
#pragma once

#include <memory>

#include "pits/data/catalogue.h"

namespace pits {

// Loaded once and shared by everybody who holds it. `data_dir` as in data/source/locate.h.
std::shared_ptr<const Table> load_table(const DataSet& set, const std::string& data_dir);

}  // namespace pits
