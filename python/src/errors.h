#pragma once

#include <pybind11/pybind11.h>

namespace pits::python {

// pits::Error as pits.Error: InputError is also a ValueError, FailedError also a RuntimeError.
void bind_errors(pybind11::module_& module);

}  // namespace pits::python
