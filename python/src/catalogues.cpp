// What there is by name: agents, environments and flows with their presets and fields.
#include <pybind11/stl.h>

#include "bindings.h"
#include "fields.h"
#include "pits/agent/catalogue.h"
#include "pits/bandit/serving_policy.h"
#include "pits/environment/catalogue.h"
#include "pits/flow/mover.h"

namespace pits::python {

namespace py = pybind11;

namespace {

const char* type_name(FieldType type) {
  switch (type) {
    case FieldType::flag: return "bool";
    case FieldType::whole: return "int";
    case FieldType::number: return "float";
    case FieldType::text: return "str";
    case FieldType::wholes: return "ints";
    case FieldType::numbers: return "floats";
    case FieldType::texts: return "strs";
    case FieldType::choice: return "choice";
    case FieldType::other: return "other";
  }
  return "other";
}

template <class Entries>
py::list summaries(const Entries& catalogue) {
  py::list list;
  for (const auto& entry : catalogue) {
    py::list presets;
    for (const Preset& preset : entry.presets) presets.append(py::make_tuple(preset.name, preset.summary));
    py::dict item;
    item["name"] = entry.name;
    item["summary"] = entry.summary;
    item["presets"] = presets;
    item["argument"] = entry.argument;
    list.append(item);
  }
  return list;
}

// The fields of a spec with all its values.
template <class Entries>
py::list spec_fields(const Entries& catalogue, const char* what, const std::string& spec) {
  return listed(find_recipe(catalogue, what, parse_spec(spec))->fields());
}

}  // namespace

py::list listed(const Fields& fields) {
  py::list list;
  for (const Field& field : fields.list()) {
    py::dict item;
    item["name"] = field.name;
    item["doc"] = field.doc;
    item["type"] = type_name(field.type);
    item["choices"] = field.choices;
    item["value"] = field.get();
    list.append(item);
  }
  return list;
}

void assign(Fields fields, const py::dict& texts) {
  for (const auto& [name, text] : texts) fields.set(name.cast<std::string>(), text.cast<std::string>());
}

void bind_catalogues(py::module_& module) {
  module.def("agent_catalogue", [] { return summaries(agent_catalogue()); });
  module.def("environment_catalogue", [] { return summaries(environment_catalogue()); });
  module.def("agent_fields", [](const std::string& spec) { return spec_fields(agent_catalogue(), "agent", spec); });
  module.def("environment_fields",
             [](const std::string& spec) { return spec_fields(environment_catalogue(), "environment", spec); });
  module.def("bandit_fields", [] {
    BanditConfig config;
    return listed(fields(config));
  });
  module.def("flow_fields", [] {
    FlowConfig flow;
    return listed(fields(flow));
  });
  module.def("optimizer_fields", [] {
    OptimizerConfig optimizer;
    return listed(fields(optimizer));
  });
  module.def("flow_summaries", [] { return flow_summaries(); });
}

}  // namespace pits::python
