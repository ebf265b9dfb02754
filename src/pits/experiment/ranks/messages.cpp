#include "pits/experiment/ranks/messages.h"

#include "pits/experiment/trajectory_json.h"

namespace pits {

Message finished_message(std::size_t cell, const Trajectory& path) {
  return {{"kind", "finished"}, {"cell", cell}, {"trajectory", trajectory_json(path)}, {"seconds", path.seconds}};
}

Trajectory trajectory_in(const Message& message) {
  Trajectory path = trajectory_from(message.at("trajectory"));
  path.seconds = message.at("seconds").get<double>();
  return path;
}

Error error_of(int exit_code, const std::string& message) {
  for (const ErrorKind kind : {ErrorKind::usage, ErrorKind::input}) {
    const Error error(kind, message);
    if (error.exit_code() == exit_code) return error;
  }
  return {ErrorKind::failed, message};
}

Error error_in(const Channel::Received& end) {
  const auto message = end.message.at("message").get<std::string>();
  return error_of(end.message.at("exit_code").get<int>(),
                  fmt::format("rank {} on {}: {}", end.from, end.message.at("host").get<std::string>(),
                              message.empty() ? "ended before the others" : message));
}

}  // namespace pits
