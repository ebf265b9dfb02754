#include "errors.h"

#include "pits/core/error.h"

namespace pits::python {
namespace {

namespace py = pybind11;

constexpr const char* too_large = "not enough memory: fewer actions, features, particles or rounds need less";

PyObject* base_error = nullptr;
PyObject* input_error = nullptr;
PyObject* failed_error = nullptr;

PyObject* new_error(py::module_& module, const char* name, const char* doc, const py::tuple& bases) {
  const std::string full = std::string("pits.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr);
  if (type == nullptr) throw py::error_already_set();
  module.add_object(name, type);
  return type;
}

}  // namespace

void bind_errors(py::module_& module) {
  const py::handle exception(PyExc_Exception), value_error(PyExc_ValueError), runtime_error(PyExc_RuntimeError);
  base_error = new_error(module, "Error", "Everything that pits raises of its own.", py::make_tuple(exception));
  input_error = new_error(module, "InputError", "Bad data or settings: the message says what would be right.",
                          py::make_tuple(py::handle(base_error), value_error));
  failed_error = new_error(module, "FailedError", "Something went wrong while working.",
                           py::make_tuple(py::handle(base_error), runtime_error));
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& e) {
      PyErr_SetString(e.kind() == ErrorKind::failed ? failed_error : input_error, e.what());
    } catch (const std::bad_alloc&) {
      PyErr_SetString(PyExc_MemoryError, too_large);
    } catch (const std::length_error&) {
      PyErr_SetString(PyExc_MemoryError, too_large);
    }
  });
}

}  // namespace pits::python
