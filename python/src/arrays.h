// numpy's arrays as views: float32 rows pass through without a copy, other numbers are converted.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pits/agent/agent.h"

namespace pits::python {

namespace py = pybind11;

// "(3, 2)", as numpy writes it.
std::string shape_text(const py::array& array);

// An array that is kept alive for as long as views of it are used.
template <class T>
class Numbers {
 public:
  // `name` is what errors call it. Accepts what has `dimensions` dimensions.
  Numbers(py::handle given, const char* name, int dimensions);
  // None is an empty one.
  static Numbers if_given(py::handle given, const char* name, int dimensions) {
    return given.is_none() ? Numbers() : Numbers(given, name, dimensions);
  }

  bool given() const { return static_cast<bool>(array_); }
  std::size_t rows() const { return given() ? static_cast<std::size_t>(array_.shape(0)) : 0; }
  std::span<const T> flat() const { return {data(), given() ? static_cast<std::size_t>(array_.size()) : 0}; }
  ConstMatrixView<T> matrix() const {
    return given() ? ConstMatrixView<T>(data(), rows(), static_cast<std::size_t>(array_.shape(1)))
                   : ConstMatrixView<T>();
  }

 private:
  Numbers() = default;
  const T* data() const { return given() ? static_cast<const T*>(array_.data()) : nullptr; }

  py::array array_ = py::reinterpret_steal<py::array>(py::handle());  // null: not given
};

extern template class Numbers<float>;

// Whole numbers of 0 or more, e.g. actions; always a copy of another type.
template <class T>
std::vector<T> whole_numbers(py::handle given, const char* name);

// A mask of actions: booleans, (K), or None for all.
class Mask {
 public:
  explicit Mask(py::handle given);
  std::span<const std::uint8_t> view() const;

 private:
  py::array array_{};
};

// The actions of one decision.
class Actions {
 public:
  Actions(py::handle allowed, py::handle features)
      : mask_(allowed), features_(Numbers<float>::if_given(features, "features", 2)) {}
  ActionSet view() const { return {.allowed = mask_.view(), .features = features_.matrix()}; }

 private:
  Mask mask_;
  Numbers<float> features_;
};

// A new array with these numbers in it.
template <class T>
py::array_t<T> array_of(std::span<const T> values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

}  // namespace pits::python
