#include "pits/fleet/fleet_link.h"

namespace pits {
namespace {

// A connection that is lost and made again at once is no problem; that the session is gone is known for certain.
constexpr Microseconds lasting = 1'000'000;

}  // namespace

void FleetLink::report(LinkPart part, const std::string& problem) {
  const std::scoped_lock lock(mutex_);
  Trouble& trouble = troubles_[static_cast<std::size_t>(part)];
  if (trouble.text.empty()) trouble.since = system_clock().steady();
  trouble.text = problem;
}

std::string FleetLink::problem(LinkPart part) const {
  const std::scoped_lock lock(mutex_);
  const Trouble& trouble = troubles_[static_cast<std::size_t>(part)];
  const bool lasts = part == LinkPart::session || system_clock().steady() - trouble.since >= lasting;
  return lasts ? trouble.text : std::string();
}

std::string FleetLink::problem_of_calls() const {
  for (const LinkPart part : {LinkPart::session, LinkPart::calls, LinkPart::answers}) {
    if (std::string found = problem(part); !found.empty()) return found;
  }
  return {};
}

std::string FleetLink::problem() const {
  for (std::size_t part = 0; part < troubles_.size(); ++part) {
    if (std::string found = problem(static_cast<LinkPart>(part)); !found.empty()) return found;
  }
  return {};
}

}  // namespace pits
