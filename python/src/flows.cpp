// The flows on a density of the caller's own.
#include "arrays.h"
#include "bindings.h"
#include "calls.h"
#include "constructed.h"
#include "fields.h"
#include "pits/flow/mover.h"

namespace pits::python {
namespace {

// A mover and the shape of what it moves, which the first step says.
template <class T>
struct ShapedMover {
  Mover<T> mover;
  py::ssize_t rows = 0, cols = 0;
};

}  // namespace
}  // namespace pits::python

PITS_ONLY_CONSTRUCTED(pits::python::ShapedMover<float>);
PITS_ONLY_CONSTRUCTED(pits::python::ShapedMover<double>);

namespace pits::python {
namespace {

template <class T>
using Block = py::array_t<T, py::array::c_style>;

void check_shape(const py::array& block, const char* name, py::ssize_t rows, py::ssize_t cols) {
  if (block.ndim() == 2 && block.shape(0) == rows && block.shape(1) == cols) return;
  throw bad_input("{} must have the shape ({}, {}), not {}", name, rows, cols, shape_text(block));
}

template <class T>
void step(ShapedMover<T>& self, Block<T> theta, const Block<T>& score) {
  if (theta.ndim() != 2 || theta.size() == 0) {
    throw bad_input("theta must have the shape (M, P), not {}", shape_text(theta));
  }
  const py::ssize_t rows = theta.shape(0), cols = theta.shape(1);
  if (self.rows > 0) check_shape(theta, "theta", self.rows, self.cols);
  check_shape(score, "score", rows, cols);
  const MatrixView<T> moved(theta.mutable_data(), static_cast<std::size_t>(rows), static_cast<std::size_t>(cols));
  const ConstMatrixView<T> scores(score.data(), moved.rows(), moved.cols());
  self.rows = rows;
  self.cols = cols;
  const WithoutGil no_gil;
  self.mover.step(moved, scores);
}

template <class T>
void bind_mover(py::module_& module, const char* name) {
  const auto make = [](const py::dict& flow, const py::dict& optimizer, std::uint64_t seed) {
    FlowConfig flow_config;
    OptimizerConfig optimizer_config;
    assign(fields(flow_config), flow);
    assign(fields(optimizer_config), optimizer);
    return std::make_unique<ShapedMover<T>>(
        ShapedMover<T>{Mover<T>(flow_config, optimizer_config, Address{.seed = seed})});
  };
  py::class_<ShapedMover<T>>(module, name)
      .def(py::init(make), py::arg("flow"), py::arg("optimizer"), py::arg("seed"))
      .def("step", &step<T>, py::arg("theta").noconvert(), py::arg("score").noconvert(),
           "Moves theta (M,P) in place along its scores (M,P).");
}

}  // namespace

void bind_flows(py::module_& module) {
  bind_mover<float>(module, "Mover32");
  bind_mover<double>(module, "Mover64");
}

}  // namespace pits::python
