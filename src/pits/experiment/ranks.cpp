#include "pits/experiment/ranks.h"

#include "pits/experiment/following_rank.h"
#include "pits/experiment/leading_rank.h"
#include "pits/experiment/trajectory_json.h"

namespace pits {

std::unique_ptr<Executor> make_rank(std::unique_ptr<Mailbox> mail) {
  if (mail->rank() == 0) return std::make_unique<LeadingRank>(std::move(mail));
  return std::make_unique<FollowingRank>(std::move(mail));
}

Letter to_letter(std::size_t cell, const Trajectory& path) {
  return {{"kind", "finished"}, {"cell", cell}, {"trajectory", trajectory_json(path)}, {"seconds", path.seconds}};
}

Trajectory trajectory_in(const Letter& letter) {
  Trajectory path = trajectory_from(letter.at("trajectory"));
  path.seconds = letter.at("seconds").get<double>();
  return path;
}

Error error_of(int exit_code, const std::string& message) {
  for (const ErrorKind kind : {ErrorKind::usage, ErrorKind::input}) {
    const Error error(kind, message);
    if (error.exit_code() == exit_code) return error;
  }
  return {ErrorKind::failed, message};
}

Error error_in(const Mailbox::Received& end) {
  const auto message = end.letter.at("message").get<std::string>();
  return error_of(end.letter.at("exit_code").get<int>(),
                  fmt::format("rank {} on {}: {}", end.from, end.letter.at("place").get<std::string>(),
                              message.empty() ? "ended before the others" : message));
}

int threads_or_default(int threads, const Mailbox& mail) {
  if (threads < 0) throw bad_input("threads must be at least 0 (all), not {}", threads);
  return threads > 0 ? threads : mail.default_threads();
}

}  // namespace pits
