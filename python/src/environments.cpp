#include <pybind11/stl.h>

#include "arrays.h"
#include "bindings.h"
#include "calls.h"
#include "checks.h"
#include "constructed.h"
#include "pits/environment/catalogue.h"

PITS_ONLY_CONSTRUCTED(pits::Environment);

namespace pits::python {
namespace {

std::unique_ptr<Environment> make(const std::string& spec, std::uint64_t seed, std::uint32_t realization,
                                  std::size_t steps, const std::string& data_dir) {
  const Computing computing;
  return find_recipe(environment_catalogue(), "environment", parse_spec(spec))
      ->make({.seed = seed, .realization = realization, .steps = steps, .data_dir = data_dir});
}

void check_round(const Environment& environment, std::size_t t) {
  if (t >= environment.horizon()) {
    throw bad_input("round {} is past the end: the problem has {}", t, environment.horizon());
  }
}

py::tuple draw(const Environment& self, py::handle given) {
  const auto t = whole<std::size_t>(given, "t");
  check_round(self, t);
  Round round;
  self.draw(t, round);
  return py::make_tuple(array_of<float>(round.context), array_of<double>(round.rewards),
                        array_of<double>(round.mean_rewards));
}

py::array_t<bool> allowed(const Environment& self, py::handle given) {
  const auto t = whole<std::size_t>(given, "t");
  check_round(self, t);
  Round round;
  self.draw(t, round);
  py::array_t<bool> mask(static_cast<py::ssize_t>(self.actions()));
  for (std::size_t a = 0; a < self.actions(); ++a) mask.mutable_data()[a] = round.admits(a);
  return mask;
}

// Rounds 0..steps-1 as arrays: contexts (T,d), rewards and mean rewards (T,K).
py::tuple table(const Environment& self, py::handle given) {
  const auto steps = whole<std::size_t>(given, "steps");
  if (steps > 0) check_round(self, steps - 1);
  py::array_t<float> contexts({steps, self.context_size()});
  py::array_t<double> rewards({steps, self.actions()}), means({steps, self.actions()});
  float* x = contexts.mutable_data();
  double* r = rewards.mutable_data();
  double* m = means.mutable_data();
  {
    const Computing computing;
    Round round;
    for (std::size_t t = 0; t < steps; ++t) {
      check_interrupt();
      self.draw(t, round);
      x = std::ranges::copy(round.context, x).out;
      r = std::ranges::copy(round.rewards, r).out;
      m = std::ranges::copy(round.mean_rewards, m).out;
    }
  }
  return py::make_tuple(contexts, rewards, means);
}

}  // namespace

void bind_environments(py::module_& module) {
  py::class_<Environment>(module, "Environment")
      .def(py::init(&make), py::arg("spec"), py::arg("seed"), py::arg("realization"), py::arg("steps"),
           py::arg("data_dir"))
      .def("_draw", &draw)
      .def("allowed", &allowed, py::arg("t"), "Which actions may be played in round t, (K,).")
      .def("table", &table, py::arg("steps"),
           "The first rounds as arrays: contexts (T,d), rewards (T,K) and mean rewards (T,K).")
      .def_property_readonly("n_features", &Environment::context_size, "d, the size of a context.")
      .def_property_readonly("n_actions", &Environment::actions, "K, the number of actions.")
      .def_property_readonly(
          "horizon",
          [](const Environment& self) {
            return self.horizon() == std::numeric_limits<std::size_t>::max() ? std::nullopt
                                                                             : std::optional(self.horizon());
          },
          "Rounds after which the problem ends; None: never.")
      .def_property_readonly("remark", &Environment::remark, "What must be known about its data, e.g. a subset.")
      .def_property_readonly("data_sha256", &Environment::data_sha256, "Of its data; empty for a formula.");
}

}  // namespace pits::python
