// What a server's bandits share: the way to the other servers, and why it cannot be used.
#pragma once

#include <array>

#include "pits/fleet/outbox.h"

namespace pits {

// Each thread that works with the database says of its own part whether it can. What a thread has met is over when it
// says so: each of them goes on trying, also where nobody asks for anything.
class FleetLink {
 public:
  explicit FleetLink(const std::string& url, ServerId sender, std::chrono::milliseconds patience)
      : outbox(url, sender, patience, [this](LinkPart part, const std::string& why) { report(part, why); }) {}

  void report(LinkPart part, const std::string& problem);
  // Empty: there is none.
  std::string problem() const;  // of any part
  std::string problem(LinkPart part) const;
  // Why calls to bandits that another server learns have no chance now.
  std::string problem_of_calls() const;

 private:
  struct Trouble {
    std::string text;
    Microseconds since = 0;  // steady
  };
  mutable std::mutex mutex_;  // of what follows
  std::array<Trouble, enum_names<LinkPart>.size()> troubles_;

 public:
  Outbox outbox;  // reports from its first moment on
};

}  // namespace pits
