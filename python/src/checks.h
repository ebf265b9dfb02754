// Arguments of a call that are not arrays: what does not fit is a bad_input that names it.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string_view>

namespace pits::python {

namespace py = pybind11;

// A whole number of Python's or numpy's from `least` to `most`.
std::uint64_t whole_number(py::handle given, std::string_view name, std::uint64_t least, std::uint64_t most);

template <class T>
T whole(py::handle given, std::string_view name, T least = 0, T most = std::numeric_limits<T>::max()) {
  return static_cast<T>(whole_number(given, name, least, most));
}

// A number; NaN and infinity are, what float32 cannot hold is not.
float real_number(py::handle given, std::string_view name);

std::filesystem::path path_of(py::handle given, std::string_view name);

void bind_checks(py::module_& module);

}  // namespace pits::python
