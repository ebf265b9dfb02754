// The message of the Error that an action must throw.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pits/core/error.h"

namespace pits::test {

template <class Run>
std::string message_of(Run&& run, ErrorKind kind = ErrorKind::input) {
  try {
    run();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

inline void expect_mentions(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "no \"" << part << "\" in: " << message;
  }
}

}  // namespace pits::test
