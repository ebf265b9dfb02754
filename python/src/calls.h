// How Python calls us: without the GIL while we compute, and with Ctrl-C let through.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <chrono>
#include <mutex>

#include "pits/core/interrupt.h"

namespace pits::python {

namespace py = pybind11;

// For a thread that has nothing to come back to.
[[noreturn]] inline void wait_for_exit() {
  for (;;) ::pause();
}

// Whether this thread has the GIL while Python exits. PyGILState_Check alone also says yes once Python has given up its
// thread states.
inline bool has_gil() { return PyGILState_GetThisThreadState() != nullptr && PyGILState_Check() != 0; }

// Calls `take`, which takes the GIL. While Python exits, that ends the thread by unwinding it (pthread_exit), which C++
// code answers with std::terminate. Such a thread, e.g. a daemon thread, stops here until the process has ended. The thread
// that ends Python holds the GIL while it frees the last objects, and goes on.
template <class Take>
auto take_gil(const Take& take) {
  if (Py_IsInitialized() == 0 && !has_gil()) wait_for_exit();
  try {
    return take();
  } catch (...) {  // no exception of C++: `take` calls Python's C functions only
    wait_for_exit();
  }
}

// pybind11's gil_scoped_release and gil_scoped_acquire, for threads that may outlive Python. The thread that ends Python
// keeps the GIL: nobody else may have it then.
class WithoutGil {
 public:
  WithoutGil() : state_(Py_IsInitialized() == 0 ? nullptr : PyEval_SaveThread()) {}
  ~WithoutGil() {
    if (state_ != nullptr) take_gil([&] { PyEval_RestoreThread(state_); });
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

class WithGil {
 public:
  WithGil() : state_(take_gil([] { return PyGILState_Ensure(); })) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Without the GIL, and every 50 ms with a look at signals wherever we call check_interrupt(): throws what a signal's
// handler raised, e.g. KeyboardInterrupt.
class Computing {
 public:
  Computing() : interrupt_([this] { look_at_signals(); }) {}

 private:
  using Clock = std::chrono::steady_clock;

  void look_at_signals() {
    const auto now = Clock::now();
    if (last_ == Clock::time_point()) last_ = now;
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    const WithGil gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }

  WithoutGil no_gil_{};
  Clock::time_point last_{};
  InterruptScope interrupt_;
};

// Runs `work` without the GIL, one thread at a time. The GIL is released first, so that the thread that holds the mutex
// can take it.
template <class Work>
auto exclusively(std::recursive_mutex& mutex, const Work& work) {
  const Computing computing;
  const std::lock_guard lock(mutex);
  return work();
}

}  // namespace pits::python
