#include "decision.h"

namespace pits::python {
namespace {

enum Position { action, propensity, id, propensity_error };

// A struct sequence is as quick to make as a tuple.
PyTypeObject* decision_type() {
  static PyStructSequence_Field fields[] = {{"action", "the action to take, 0..n_actions-1"},
                                            {"propensity", "its probability, or None where nobody knows"},
                                            {"id", "what learn() takes with the reward"},
                                            {"propensity_error", "standard error of the propensity; 0: exact"},
                                            {nullptr, nullptr}};
  static PyStructSequence_Desc description = {"pits.Decision", "A decision: (action, propensity, id).", fields, 3};
  static PyTypeObject* type = PyStructSequence_NewType(&description);
  if (type == nullptr) throw py::error_already_set();
  return type;
}

}  // namespace

void bind_decision(py::module_& module) {
  module.attr("Decision") = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(decision_type()));
}

py::object decision_of(const Choice& choice) {
  const auto tuple = py::reinterpret_steal<py::object>(PyStructSequence_New(decision_type()));
  if (!tuple) throw py::error_already_set();
  const auto set = [&](Position at, PyObject* value) {
    if (value == nullptr) throw py::error_already_set();
    PyStructSequence_SetItem(tuple.ptr(), at, value);
  };
  set(action, PyLong_FromUnsignedLong(choice.action));
  set(propensity, choice.propensity ? PyFloat_FromDouble(*choice.propensity) : py::none().release().ptr());
  set(id, PyLong_FromUnsignedLongLong(choice.id));
  set(propensity_error, PyFloat_FromDouble(choice.propensity_error));
  return tuple;
}

std::optional<DecisionId> id_in_decision(py::handle object) {
  if (Py_TYPE(object.ptr()) != decision_type()) return std::nullopt;
  return PyStructSequence_GetItem(object.ptr(), id) == nullptr
             ? std::nullopt
             : std::optional(py::handle(PyStructSequence_GetItem(object.ptr(), id)).cast<DecisionId>());
}

}  // namespace pits::python
