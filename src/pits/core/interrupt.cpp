#include "pits/core/interrupt.h"

#include <utility>

namespace pits {
namespace {

thread_local const std::function<void()>* innermost = nullptr;

}  // namespace

InterruptScope::InterruptScope(std::function<void()> check)
    : check_(std::move(check)), outer_(std::exchange(innermost, &check_)) {}

InterruptScope::~InterruptScope() { innermost = outer_; }

void check_interrupt() {
  if (innermost != nullptr) (*innermost)();
}

}  // namespace pits
