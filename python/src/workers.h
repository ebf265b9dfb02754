// Threads that outlive their work. oneTBB keeps some memory for every thread that has ever used it, so that a new
// thread for every call would leak.
#pragma once

#include <functional>

namespace pits::python {

// Runs `work`, which must not throw, on an idle thread or a new one.
void start_on_worker(std::function<void()> work);

}  // namespace pits::python
