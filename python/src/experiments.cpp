#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <condition_variable>
#include <thread>

#include "arrays.h"
#include "bindings.h"
#include "calls.h"
#include "constructed.h"
#include "custom.h"
#include "fields.h"
#include "pits/experiment/machine.h"
#include "pits/experiment/ranks/executor.h"
#include "pits/report/run_report.h"
#include "workers.h"

namespace pits::python {
namespace {

using Named = std::vector<std::pair<std::string, py::object>>;  // things made by Python, by label

// A plan and what has come of it.
class Experiment {
 public:
  Experiment(const ExperimentConfig& config, const Named& agents, const Named& environments)
      : plan_(planned(config, with(agents, environments))) {}

  const Plan& plan() const { return plan_; }
  Results& results() const { return *results_; }

  void keep_in_memory() { results_ = std::make_unique<MemoryResults>(plan_); }
  void keep_in(const std::filesystem::path& out, bool resume, const std::string& command) {
    const nlohmann::ordered_json origin = {{"command", command}, {"machine", machine_line()}};
    auto directory = resume ? RunDirectory::resume(out, plan_, origin) : RunDirectory::create(out, plan_, origin);
    directory_ = directory.get();
    results_ = std::move(directory);
  }
  // Gives the run directory back: Python may keep this object alive in a traceback.
  void abandon() {
    directory_ = nullptr;
    keep_in_memory();
  }
  // Writes what a run directory gets at the end, and gives it back.
  void close_directory() {
    if (directory_ == nullptr) return;
    write_outcome(*directory_, plan_, summarise(plan_, *results_));
    auto memory = std::make_unique<MemoryResults>(plan_);
    for (std::size_t i = 0; i < plan_.cells(); ++i) memory->put(i, results_->get(i));
    directory_ = nullptr;
    results_ = std::move(memory);
  }

 private:
  // Tries everything out, which reads data files.
  static Plan planned(const ExperimentConfig& config, const Catalogues& catalogues) {
    const Computing computing;
    return Plan(config, catalogues);
  }
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

// The fields that are keywords of pits.run: agents and environments are arguments of it, and the program has the GPU.
py::list experiment_fields() {
  ExperimentConfig config;
  py::list keywords;
  for (const py::handle item : listed(fields(config))) {
    const auto name = item["name"].cast<std::string>();
    if (item["type"].cast<std::string>() != "strs" && name != "device" && name != "precision") keywords.append(item);
  }
  return keywords;
}

std::unique_ptr<Experiment> make(const std::vector<std::string>& agents, const std::vector<std::string>& environments,
                                 const Named& custom_agents, const Named& custom_environments,
                                 const py::dict& settings) {
  ExperimentConfig config{.agents = agents, .environments = environments};
  assign(fields(config), settings);
  return std::make_unique<Experiment>(config, custom_agents, custom_environments);
}

std::atomic<std::thread::id> exiting{};  // the thread that runs Python's exit, from its atexit functions on
std::atomic<int> running = 0;            // calls of run

// Ends the runs of daemon threads, whose cells must not go on while the process is taken apart.
void end_runs_at_exit() {
  exiting = std::this_thread::get_id();
  const WithoutGil no_gil;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (running > 0 && std::chrono::steady_clock::now() < patience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// The cells run on threads of their own, so that this one can show progress and see Ctrl-C. show(done, total) may
// raise.
class Watched {
 public:
  explicit Watched(Experiment& experiment, int threads) {
    const RoundCount rounds = count_rounds(experiment.plan(), experiment.results());
    total_ = rounds.all;
    done_ = rounds.done;
    start_on_worker([this, &experiment, threads] { work(experiment, threads); });
    ++running;
  }
  ~Watched() {
    stop_ = true;
    const WithoutGil no_gil;  // cells written in Python need it to come to their end
    std::unique_lock lock(mutex_);
    finish_.wait(lock, [&] { return finished_; });
    --running;
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  void wait(const py::object& show) {
    while (!wait_a_moment()) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      check_exit();
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
  // SystemExit ends a thread without a word.
  static void check_exit() {
    const std::thread::id by = exiting;
    if (by == std::thread::id() || by == std::this_thread::get_id()) return;
    PyErr_SetNone(PyExc_SystemExit);
    throw py::error_already_set();
  }
  bool wait_a_moment() {
    const WithoutGil no_gil;
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
};

void run(Experiment& self, int threads, const py::object& show) {
  try {
    Watched(self, threads).wait(show);
    self.close_directory();
  } catch (...) {
    self.abandon();
    throw;
  }
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
    cell["observed"] = path.observed.dump();  // NaN becomes null
    list.append(cell);
  }
  return list;
}

std::string page(const Experiment& self, const std::string& command) {
  return run_page(self.plan(), summarise(self.plan(), self.results()), {command, machine_line()});
}

}  // namespace

void bind_experiments(py::module_& module) {
  py::module_::import("atexit").attr("register")(py::cpp_function(&end_runs_at_exit));
  module.def(
      "write_file", [](const std::filesystem::path& path, std::string_view text) { write_file_atomically(path, text); },
      py::arg("path"), py::arg("text"), "The file is there completely or not at all.");
  module.def("experiment_fields", &experiment_fields);
  py::class_<Experiment>(module, "Experiment")
      .def(py::init(&make), py::arg("agents"), py::arg("environments"), py::arg("custom_agents"),
           py::arg("custom_environments"), py::arg("config"))
      .def("keep_in_memory", &Experiment::keep_in_memory)
      .def("keep_in", &Experiment::keep_in, py::arg("out"), py::arg("resume"), py::arg("command"))
      .def("run", &run, py::arg("threads"), py::arg("show"))
      .def("trajectories", &trajectories)
      .def("page", &page, py::arg("command"))
      .def("table",
           [](const Experiment& self) { return run_text(self.plan(), summarise(self.plan(), self.results()), false); });
}

}  // namespace pits::python
