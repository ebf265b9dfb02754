// Decisions as Python sees them: named tuples (action, propensity, id) that also know propensity_error.
#pragma once

#include <pybind11/pybind11.h>

#include "pits/bandit/serving_policy.h"

namespace pits::python {

namespace py = pybind11;

void bind_decision(py::module_& module);
py::object decision_of(const Choice& choice);
// The id of a Decision; none for another object.
std::optional<DecisionId> id_in_decision(py::handle object);

}  // namespace pits::python
