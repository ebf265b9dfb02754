// Stops a long computation from outside: long loops call check_interrupt() in every iteration. It does nothing unless
// the calling thread is inside an InterruptScope, whose function may throw.
#pragma once

#include <functional>

namespace pits {

class InterruptScope {
 public:
  explicit InterruptScope(std::function<void()> check);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  std::function<void()> check_;
  const std::function<void()>* outer_;
};

void check_interrupt();

}  // namespace pits
