#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.h"
#include "calls.h"
#include "pits/core/fields.h"
#include "pits/core/parallel.h"
#include "pits/evaluate/evaluation_json.h"
#include "pits/evaluate/read/read_log.h"
#include "pits/report/evaluation_report.h"

namespace pits::python {
namespace {

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;
using Range = std::optional<std::pair<double, double>>;

std::optional<RewardRange> range_of(const Range& range) {
  if (!range) return std::nullopt;
  return RewardRange{range->first, range->second};
}

std::size_t columns(const py::array& array) { return array.ndim() == 2 ? static_cast<std::size_t>(array.shape(1)) : 0; }

// Rounds of arrays, checked as those of files are; errors call a round a line of 'arrays'.
LoggedData of_arrays(const std::vector<std::string>& actions, const Doubles& rewards,
                     const std::optional<Doubles>& propensities, const std::optional<Floats>& contexts,
                     const std::optional<Doubles>& all, const std::optional<Floats>& allowed,
                     const std::vector<std::string>& names, const Range& range) {
  LogBuilder builder(names, range_of(range));
  const std::size_t n = actions.size();
  const auto check = [n](const py::array& array, int dimensions, const char* what) {
    if (array.ndim() == dimensions && static_cast<std::size_t>(array.shape(0)) == n) return;
    throw bad_input("{} must have {} rows and {} dimensions", what, n, dimensions);
  };
  check(rewards, 1, "rewards");
  if (propensities) check(*propensities, 1, "propensities");
  if (contexts) check(*contexts, 2, "contexts");
  if (all) check(*all, 2, "all_propensities");
  if (allowed) check(*allowed, 2, "allowed");
  for (std::size_t i = 0; i < n; ++i) {
    const Place place{"arrays", i + 1};
    RoundRow row;
    row.action = builder.action(actions[i], place);
    row.reward = rewards.data()[i];
    if (propensities) row.propensity = propensities->data()[i];
    const auto copy = [i](const auto& array, auto& into) {
      if (!array) return;
      const auto* from = array->data() + i * columns(*array);
      into.assign(from, from + columns(*array));
    };
    copy(contexts, row.x);
    copy(all, row.propensities);
    if (allowed) {
      const float* from = allowed->data() + i * columns(*allowed);
      for (std::size_t a = 0; a < columns(*allowed); ++a) row.allowed.push_back(from[a] != 0.0F ? 1 : 0);
    }
    builder.add(std::move(row), place);
  }
  return builder.finish("arrays");
}

LoggedData read(const std::filesystem::path& path, const std::string& format, const std::vector<std::string>& actions,
                const Range& range, const std::array<std::string, 3>& names) {
  LogOptions options{.actions = actions, .reward_range = range_of(range)};
  parse_value(format, options.format);
  options.action = names[0];
  options.reward = names[1];
  options.propensity = names[2];
  options.read = [](std::size_t) { check_interrupt(); };
  const Computing computing;
  return read_log(path, options);
}

struct Judged {
  EvaluationConfig config;
  Evaluation result;
};

TableChoice choice_of(const std::string& estimator, const std::string& interval) {
  TableChoice choice;
  parse_value(estimator, choice.estimator);
  parse_value(interval, choice.interval);
  return choice;
}

std::unique_ptr<Judged> judge(const LoggedData& data, const std::vector<std::string>& policies, const Range& range,
                              double level, const std::string& against, const std::string& model, int folds,
                              int bootstrap, int draws, std::uint64_t seed, int threads) {
  auto judged = std::make_unique<Judged>();
  judged->config = {.policies = policies,
                    .reward_range = range_of(range),
                    .level = level,
                    .against = against,
                    .model = model,
                    .folds = folds,
                    .bootstrap = bootstrap,
                    .draws = draws,
                    .seed = seed};
  const Computing computing;
  const ThreadScope scope(threads);
  judged->result = evaluate(data, judged->config, [](std::size_t) { check_interrupt(); });
  return judged;
}

template <class T>
py::object table(const std::vector<T>& values, std::size_t rows, std::size_t cols) {
  if (values.empty() && cols > 0) return py::none();
  py::array_t<T> out({rows, cols});
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

}  // namespace

void bind_evaluation(py::module_& module) {
  py::class_<LoggedData>(module, "Log", "Rounds that some policy has played and logged.")
      .def_static("read", &read)
      .def_static("of_arrays", &of_arrays)
      .def_property_readonly("rounds", &LoggedData::rounds)
      .def_property_readonly("action_names", [](const LoggedData& d) { return d.action_names; })
      .def_property_readonly("reward_range",
                             [](const LoggedData& d) -> Range {
                               if (!d.reward_range) return std::nullopt;
                               return std::pair(d.reward_range->low, d.reward_range->high);
                             })
      .def_property_readonly("contexts",
                             [](const LoggedData& d) { return table(d.contexts, d.rounds(), d.context_size); })
      .def_property_readonly("allowed", [](const LoggedData& d) { return table(d.allowed, d.rounds(), d.K()); })
      .def("add_policy",
           [](LoggedData& data, const std::string& name, const Doubles& p) {
             add_policy(data, name, {p.data(), static_cast<std::size_t>(p.size())});
           })
      .def("judge", &judge);
  py::class_<Judged>(module, "Judged", "What came of an evaluation.")
      .def("logged_json", [](const Judged& j, const LoggedData& data) { return log_json(data, j.result).dump(); })
      .def("policies_json",
           [](const Judged& j) {
             std::vector<std::string> all;
             for (const JudgedResult& policy : j.result.policies) all.push_back(policy_json(policy).dump());
             return all;
           })
      .def("weights",
           [](const Judged& j, std::size_t policy) {
             const std::vector<double>& w = j.result.terms.at(policy).weight;
             return py::array_t<double>(static_cast<py::ssize_t>(w.size()), w.data());
           })
      .def("table",
           [](const Judged& j, const LoggedData& data, const std::string& estimator, const std::string& interval) {
             return evaluation_text(data, j.config, j.result, choice_of(estimator, interval));
           })
      .def("page", [](const Judged& j, const LoggedData& data, const std::string& estimator,
                      const std::string& interval, const std::string& title, const std::string& feature) {
        return evaluation_page(data, j.config, j.result,
                               {.table = choice_of(estimator, interval), .title = title, .feature = feature});
      });
}

}  // namespace pits::python
