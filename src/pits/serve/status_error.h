// An error with the HTTP status that its caller gets. Other errors get one by their kind (status_of).
#pragma once

#include <exception>

#include "pits/core/error.h"

namespace pits {

class StatusError : public Error {
 public:
  StatusError(int status, const std::string& message, int retry_after = 0)
      : Error(status >= 500 ? ErrorKind::failed : ErrorKind::input, message),
        status_(status),
        retry_after_(retry_after) {}
  int status() const { return status_; }
  int retry_after() const { return retry_after_; }  // seconds; 0: trying again does not help

 private:
  int status_, retry_after_;
};

template <class... Args>
StatusError status_error(int status, fmt::format_string<Args...> format, Args&&... args) {
  return {status, fmt::format(format, std::forward<Args>(args)...)};
}

// What the caller can try again in a second: a store that does not take it now, a bandit that is being recovered.
template <class... Args>
StatusError unavailable(fmt::format_string<Args...> format, Args&&... args) {
  return {503, fmt::format(format, std::forward<Args>(args)...), 1};
}

// 400 for bad input, 503 for a failure, 500 for what should not happen.
StatusError status_of(const std::exception_ptr& error);

}  // namespace pits
