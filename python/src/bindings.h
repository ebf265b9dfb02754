// The parts of the module `_pits`; the package `pits` is what people see.
#pragma once

#include <pybind11/pybind11.h>

namespace pits::python {

void bind_catalogues(pybind11::module_& module);
void bind_bandit(pybind11::module_& module);
void bind_schema(pybind11::module_& module);
void bind_live(pybind11::module_& module);
void bind_environments(pybind11::module_& module);
void bind_experiments(pybind11::module_& module);
void bind_evaluation(pybind11::module_& module);
void bind_flows(pybind11::module_& module);

}  // namespace pits::python
