// Rows of named contexts as rows of numbers.
#pragma once

#include <string>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/schema/schema.h"

namespace pits::python {

// Contexts are JSON objects; rows is (n,d). An Error names the row and the feature.
void encode_rows(const Schema& schema, const std::vector<std::string>& contexts, MatrixView<float> rows);

}  // namespace pits::python
