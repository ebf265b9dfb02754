#include "bindings.h"
#include "checks.h"
#include "decision.h"
#include "errors.h"
#include "pits/core/simd/kernels.h"
#include "pits/version.h"

PYBIND11_MODULE(_pits, module) {
  using namespace pits::python;
  module.doc() = "The compiled part of pits.";
  module.attr("__version__") = pits::version;
  module.def("simd_target", &pits::simd_target, "The SIMD target that results are the same bits for.");
  bind_errors(module);
  pits::force_simd_target_of_environment();
  bind_checks(module);
  bind_decision(module);
  bind_catalogues(module);
  bind_bandit(module);
  bind_schema(module);
  bind_live(module);
  bind_environments(module);
  bind_experiments(module);
  bind_evaluation(module);
  bind_flows(module);
}
