// How Python calls us: without the GIL while we compute, and with Ctrl-C let through.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <mutex>

namespace pits::python {

namespace py = pybind11;

// To be called now and then without the GIL: every so often it looks whether a signal came, and throws what its handler
// raised.
class SignalCheck {
 public:
  void operator()() {
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

// Runs `work` without the GIL, one thread at a time. The GIL goes first, so that whoever holds the mutex can get it
// back.
template <class Work>
auto exclusively(std::recursive_mutex& mutex, const Work& work) {
  const py::gil_scoped_release no_gil;
  const std::lock_guard lock(mutex);
  return work();
}

}  // namespace pits::python
