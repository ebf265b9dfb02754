#include "arrays.h"

#include <cmath>
#include <limits>

#include "pits/core/error.h"

namespace pits::python {
namespace {

constexpr int aligned_flag = py::detail::npy_api::NPY_ARRAY_ALIGNED_;

// Null where the object can't be an array.
py::array any_array(py::handle given, const char* name) {
  py::array array = py::array::ensure(given);
  if (!array) throw py::type_error(fmt::format("{} must be an array of numbers", name));
  return array;
}

void check_kind(const py::array& array, const char* name, std::string_view kinds, const char* wanted) {
  if (kinds.find(array.dtype().kind()) == std::string_view::npos) {
    throw py::type_error(
        fmt::format("{} must be {}, not an array of {}", name, wanted, py::str(array.dtype()).cast<std::string>()));
  }
}

// Finite numbers that would become infinite: numpy would only warn.
template <class T>
void check_size(const py::array& array, const char* name) {
  if (array.dtype().kind() != 'f' || array.itemsize() <= static_cast<py::ssize_t>(sizeof(T))) return;
  const auto wide = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!wide) throw py::error_already_set();
  for (const double v : std::span(wide.data(), static_cast<std::size_t>(wide.size()))) {
    if (std::isfinite(v) && std::abs(v) > std::numeric_limits<T>::max()) {
      throw bad_input("{} must hold numbers that float32 can, at most {:.2g} in size, not {}", name,
                      std::numeric_limits<T>::max(), v);
    }
  }
}

template <class T>
bool fits_already(py::handle given) {
  return py::array_t<T, py::array::c_style>::check_(given) && py::detail::check_flags(given.ptr(), aligned_flag);
}

}  // namespace

std::string shape_text(const py::array& array) { return py::str(py::tuple(array.attr("shape"))).cast<std::string>(); }

template <class T>
Numbers<T>::Numbers(py::handle given, const char* name, int dimensions) {
  if (fits_already<T>(given)) {
    array_ = py::reinterpret_borrow<py::array>(given);
  } else {
    const py::array numbers = any_array(given, name);
    check_kind(numbers, name, "biuf", "real numbers");
    check_size<T>(numbers, name);
    array_ = py::array_t<T, py::array::c_style | py::array::forcecast>::ensure(numbers);
    if (!array_) throw py::error_already_set();
  }
  if (array_.ndim() != dimensions) {
    throw bad_input("{} must have {} dimension{}, not the shape {}", name, dimensions, dimensions == 1 ? "" : "s",
                    shape_text(array_));
  }
}

template class Numbers<float>;

template <class T>
std::vector<T> whole_numbers(py::handle given, const char* name) {
  const py::array array = any_array(given, name);
  if (array.size() == 0) return {};
  check_kind(array, name, "iu", "whole numbers");
  if (array.ndim() != 1) throw bad_input("{} must have 1 dimension, not the shape {}", name, shape_text(array));
  const auto wide = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(array);
  std::vector<T> values;
  for (const std::int64_t v : std::span(wide.data(), static_cast<std::size_t>(wide.size()))) {
    if (v < 0 || static_cast<std::uint64_t>(v) > std::numeric_limits<T>::max()) {
      throw bad_input("{} must be at least 0 and at most {}, not {}", name, std::numeric_limits<T>::max(), v);
    }
    values.push_back(static_cast<T>(v));
  }
  return values;
}

template std::vector<std::uint32_t> whole_numbers(py::handle, const char*);
template std::vector<std::uint64_t> whole_numbers(py::handle, const char*);

Mask::Mask(py::handle given) : array_(py::reinterpret_steal<py::array>(py::handle())) {
  if (given.is_none()) return;
  const py::array mask = any_array(given, "allowed");
  check_kind(mask, "allowed", "b", "booleans, one for each action");
  if (mask.ndim() != 1) throw bad_input("allowed must have 1 dimension, not the shape {}", shape_text(mask));
  array_ = py::array_t<bool, py::array::c_style>::ensure(mask);
}

// numpy's booleans are bytes of 0 and 1.
std::span<const std::uint8_t> Mask::view() const {
  if (!array_) return {};
  return {static_cast<const std::uint8_t*>(array_.data()), static_cast<std::size_t>(array_.size())};
}

}  // namespace pits::python
