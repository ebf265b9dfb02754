#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "bindings.h"
#include "calls.h"
#include "constructed.h"
#include "pits/core/error.h"
#include "rows.h"

PITS_ONLY_CONSTRUCTED(pits::Schema);

namespace pits::python {
namespace {

namespace py = pybind11;

py::array_t<float> encode(const Schema& schema, const std::vector<std::string>& contexts) {
  py::array_t<float> rows({contexts.size(), schema.width()});
  float* data = rows.mutable_data();
  const Computing computing;
  encode_rows(schema, contexts, MatrixView<float>(data, contexts.size(), schema.width()));
  return rows;
}

}  // namespace

void encode_rows(const Schema& schema, const std::vector<std::string>& contexts, MatrixView<float> rows) {
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    try {
      schema.encode(contexts[i], rows.row(i));
    } catch (const Error& e) {
      throw Error(e.kind(), fmt::format("row {}: {}", i, e.what()));
    }
  }
}

void bind_schema(py::module_& module) {
  py::class_<Schema>(module, "Schema")
      .def(py::init([](const std::string& json) { return std::make_unique<Schema>(json); }), py::arg("definition"))
      .def("_encode", &encode)
      .def("_text", &Schema::text)
      .def_property_readonly(
          "columns", [](const Schema& self) { return self.columns(); }, "Names of the numbers, (d).")
      .def_property_readonly("n_features", &Schema::width, "d, how many numbers a context becomes.");
}

}  // namespace pits::python
