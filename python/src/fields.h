// Lists of fields as Python sees them, and keyword arguments put into a config.
#pragma once

#include <pybind11/pybind11.h>

#include "pits/core/fields.h"

namespace pits::python {

// [{"name", "doc", "type", "choices", "value"}, ...]; the value as text.
pybind11::list listed(const Fields& fields);
// From {field: text}.
void assign(Fields fields, const pybind11::dict& texts);

}  // namespace pits::python
