#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <condition_variable>
#include <thread>

#include "arrays.h"
#include "bindings.h"
#include "constructed.h"
#include "custom.h"
#include "pits/core/machine.h"
#include "pits/experiment/runner.h"
#include "pits/report/run_report.h"

namespace pits::python {
namespace {

using Named = std::vector<std::pair<std::string, py::object>>;  // things made by Python, by label

// A plan and what has come of it.
class Experiment {
 public:
  Experiment(const ExperimentConfig& config, const Named& agents, const Named& environments)
      : plan_(config, with(agents, environments)) {}

  const Plan& plan() const { return plan_; }
  Results& results() const { return *results_; }

  void keep_in_memory() { results_ = std::make_unique<MemoryResults>(plan_); }
  void keep_in(const std::filesystem::path& out, bool resume, const std::string& command) {
    const nlohmann::ordered_json origin = {{"command", command}, {"machine", machine_line()}};
    auto directory = resume ? RunDirectory::resume(out, plan_, origin) : RunDirectory::create(out, plan_, origin);
    directory_ = directory.get();
    results_ = std::move(directory);
  }
  // Writes what a run directory gets at the end, and leaves it to others.
  void close_directory() {
    if (directory_ == nullptr) return;
    write_outcome(*directory_, plan_, summarise(plan_, *results_));
    auto memory = std::make_unique<MemoryResults>(plan_);
    for (std::size_t i = 0; i < plan_.cells(); ++i) memory->put(i, results_->get(i));
    directory_ = nullptr;
    results_ = std::move(memory);
  }

 private:
  static Catalogues with(const Named& agents, const Named& environments) {
    Catalogues all;
    for (const auto& [name, factory] : agents) all.agents.push_back(custom_agent(name, factory));
    for (const auto& [name, factory] : environments) all.environments.push_back(custom_environment(name, factory));
    return all;
  }

  Plan plan_;
  std::unique_ptr<Results> results_{};
  const RunDirectory* directory_ = nullptr;
};

}  // namespace
}  // namespace pits::python

PITS_ONLY_CONSTRUCTED(pits::python::Experiment);

namespace pits::python {
namespace {

std::unique_ptr<Experiment> make(const std::vector<std::string>& agents, const std::vector<std::string>& environments,
                                 const Named& custom_agents, const Named& custom_environments, std::int64_t steps,
                                 std::int64_t realizations, std::int64_t seed, const std::string& feedback,
                                 bool diagnostics, const std::string& data_dir) {
  return std::make_unique<Experiment>(ExperimentConfig{.agents = agents,
                                                       .environments = environments,
                                                       .steps = steps,
                                                       .realizations = realizations,
                                                       .seed = seed,
                                                       .feedback = feedback,
                                                       .diagnostics = diagnostics,
                                                       .data_dir = data_dir},
                                      custom_agents, custom_environments);
}

// The cells run on threads of their own, so that this one can show progress and see Ctrl-C. show(done, total) may
// raise.
class Watched {
 public:
  explicit Watched(Experiment& experiment, int threads) {
    const Plan& plan = experiment.plan();
    for (std::size_t i = 0; i < plan.cells(); ++i) {
      const std::size_t rounds = plan.rounds(plan.cell(i));
      total_ += rounds;
      done_ += experiment.results().has(i) ? rounds : 0;
    }
    worker_ = std::thread([this, &experiment, threads] { work(experiment, threads); });
  }
  ~Watched() {
    stop_ = true;
    const py::gil_scoped_release no_gil;  // cells written in Python need it to come to their end
    worker_.join();
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  void wait(const py::object& show) {
    while (!wait_a_moment()) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (!show.is_none()) show(done_.load(), total_);
    }
    if (error_) std::rethrow_exception(error_);
    if (!show.is_none()) show(done_.load(), total_);
  }

 private:
  void work(Experiment& experiment, int threads) {
    try {
      run_cells(experiment.plan(), experiment.results(), threads, stop_, [&](std::size_t rounds) { done_ += rounds; });
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    finished_ = true;
    finish_.notify_all();
  }
  bool wait_a_moment() {
    const py::gil_scoped_release no_gil;
    std::unique_lock lock(mutex_);
    return finish_.wait_for(lock, std::chrono::milliseconds(100), [&] { return finished_; });
  }

  std::size_t total_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<bool> stop_ = false;
  bool finished_ = false;
  std::mutex mutex_;
  std::condition_variable finish_;
  std::exception_ptr error_;
  std::thread worker_;
};

void run(Experiment& self, int threads, const py::object& show) {
  Watched(self, threads).wait(show);
  self.close_directory();
}

py::dict health_of(const Health& health) {
  std::vector<std::uint64_t> rounds;
  for (const HealthPoint& point : health.points) rounds.push_back(point.round);
  py::dict dict;
  dict["particles"] = health.particles;
  dict["rounds"] = array_of<std::uint64_t>(rounds);
  for (const auto& [name, value] : health_series) {
    std::vector<double> numbers;
    for (const HealthPoint& point : health.points) numbers.push_back(point.*value);
    dict[name] = array_of<double>(numbers);
  }
  dict["pit"] = array_of<double>({health.pit.begin(), health.pit.end()});
  return dict;
}

// Cell by cell, in the order environments, agents, realizations.
py::list trajectories(const Experiment& self) {
  py::list list;
  for (std::size_t i = 0; i < self.plan().cells(); ++i) {
    const Trajectory path = self.results().get(i);
    py::dict cell;
    cell["rounds"] = path.rounds;
    cell["regret"] = path.regret;
    cell["uniform_regret"] = path.uniform_regret;
    cell["seconds"] = path.seconds;
    cell["curve"] = array_of<double>(path.curve);
    cell["curve_rounds"] = curve_rounds(path.rounds);
    cell["pulls"] = array_of<std::uint64_t>(path.pulls);
    cell["health"] = path.health.known() ? py::object(health_of(path.health)) : py::none();
    list.append(cell);
  }
  return list;
}

std::string page(const Experiment& self, const std::string& command) {
  return run_page(self.plan(), summarise(self.plan(), self.results()), {command, machine_line()});
}

}  // namespace

void bind_experiments(py::module_& module) {
  module.def(
      "write_file", [](const std::filesystem::path& path, std::string_view text) { write_file_atomically(path, text); },
      py::arg("path"), py::arg("text"), "The file is there completely or not at all.");
  py::class_<Experiment>(module, "Experiment")
      .def(py::init(&make), py::arg("agents"), py::arg("environments"), py::arg("custom_agents"),
           py::arg("custom_environments"), py::arg("steps"), py::arg("realizations"), py::arg("seed"),
           py::arg("feedback"), py::arg("diagnostics"), py::arg("data_dir"))
      .def("keep_in_memory", &Experiment::keep_in_memory)
      .def("keep_in", &Experiment::keep_in, py::arg("out"), py::arg("resume"), py::arg("command"))
      .def("run", &run, py::arg("threads"), py::arg("show"))
      .def("trajectories", &trajectories)
      .def("page", &page, py::arg("command"))
      .def("table",
           [](const Experiment& self) { return run_text(self.plan(), summarise(self.plan(), self.results()), false); });
}

}  // namespace pits::python
