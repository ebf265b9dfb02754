// The flows on a density of the caller's own.
#include "arrays.h"
#include "bindings.h"
#include "constructed.h"
#include "fields.h"
#include "pits/flow/mover.h"

PITS_ONLY_CONSTRUCTED(pits::Mover<float>);
PITS_ONLY_CONSTRUCTED(pits::Mover<double>);

namespace pits::python {
namespace {

template <class T>
using Block = py::array_t<T, py::array::c_style>;

template <class T>
void step(Mover<T>& mover, Block<T> theta, const Block<T>& score) {
  const auto rows = static_cast<std::size_t>(theta.shape(0)), cols = static_cast<std::size_t>(theta.shape(1));
  const MatrixView<T> moved(theta.mutable_data(), rows, cols);
  const ConstMatrixView<T> scores(score.data(), rows, cols);
  const py::gil_scoped_release no_gil;
  mover.step(moved, scores);
}

template <class T>
void bind_mover(py::module_& module, const char* name) {
  const auto make = [](const py::dict& flow, const py::dict& optimizer, std::uint64_t seed) {
    FlowConfig flow_config;
    OptimizerConfig optimizer_config;
    assign(fields(flow_config), flow);
    assign(fields(optimizer_config), optimizer);
    return std::make_unique<Mover<T>>(flow_config, optimizer_config, Address{.seed = seed});
  };
  py::class_<Mover<T>>(module, name)
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
