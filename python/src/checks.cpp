#include "checks.h"

#include <cmath>

#include "pits/core/error.h"

namespace pits::python {
namespace {

// As Python writes it, cut where it is long.
std::string shown(py::handle given) {
  const std::string text = py::repr(given).cast<std::string>();
  return text.size() > 100 ? text.substr(0, 97) + "..." : text;
}

// Null, and no error left behind, where the call failed.
py::object unless_refused(PyObject* made) {
  if (made == nullptr) PyErr_Clear();
  return py::reinterpret_steal<py::object>(made);
}

}  // namespace

std::uint64_t whole_number(py::handle given, std::string_view name, std::uint64_t least, std::uint64_t most) {
  if (const py::object index = unless_refused(PyNumber_Index(given.ptr()))) {
    const unsigned long long value = PyLong_AsUnsignedLongLong(index.ptr());
    const bool fits = PyErr_Occurred() == nullptr;
    PyErr_Clear();
    if (fits && value >= least && value <= most) return value;
  }
  throw bad_input("{} must be a whole number from {} to {}, not {}", name, least, most, shown(given));
}

float real_number(py::handle given, std::string_view name) {
  const py::object number = unless_refused(PyUnicode_Check(given.ptr()) ? nullptr : PyNumber_Float(given.ptr()));
  if (!number) throw bad_input("{} must be a number, not {}", name, shown(given));
  const double value = PyFloat_AsDouble(number.ptr());
  if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()) {
    throw bad_input("{} must be a number that float32 can hold, at most 3.4e38 in size, not {}", name, shown(given));
  }
  return static_cast<float>(value);
}

std::filesystem::path path_of(py::handle given, std::string_view name) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(given.ptr(), &bytes) == 0) {
    PyErr_Clear();
    throw bad_input("{} must be the name of a file, text without null characters or a pathlib.Path, not {}", name,
                    shown(given));
  }
  return std::string(py::reinterpret_steal<py::bytes>(bytes));
}

void bind_checks(py::module_& module) {
  module.def("whole_number", [](py::handle given, std::string_view name, std::uint64_t least, std::uint64_t most) {
    return whole_number(given, name, least, most);
  });
}

}  // namespace pits::python
