// A group of events without its checksum, or one event as a line of JSON. What is read comes back as it was.
#include "fuzz/target.h"
#include "pits/core/io/sha256.h"
#include "pits/log/event_json.h"

namespace pits::fuzz {
namespace {

constexpr std::size_t checksum_size = 8;

std::string with_checksum(std::string bytes) {
  Sha256 sha;
  sha.add(bytes);
  const auto digest = sha.finish();
  return bytes.append(reinterpret_cast<const char*>(digest.data()), checksum_size);
}

void check_json(const TimedEvent& event) {
  const std::string line = to_json(event);
  const Outcome again = outcome_of([&] { return to_json(event_from_json(line)); });
  const bool finite = line.find("null") == std::string::npos;  // JSON has no other numbers
  if (again.read ? again.text != line : finite) throw std::logic_error("a line is another event: " + again.text);
}

std::string written_again(const std::string& bytes) {
  const GroupReader group(bytes, 1);
  GroupWriter writer;
  for (EventNumber n = 1; n <= group.last(); ++n) {
    const Event event = group.event(n);
    std::visit([&](const auto& fields) { writer.add(fields); }, event);
    check_json({.number = n, .time = group.time(), .event = event});
  }
  return writer.finish(group.time());
}

}  // namespace

bool reads(std::string_view bytes) {
  try {
    if (bytes.starts_with('{')) {
      check_json(event_from_json(bytes));
      return true;
    }
    const std::string first = written_again(with_checksum(std::string(bytes)));
    if (written_again(first) != first) throw std::logic_error("a group is written in two ways");
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace pits::fuzz
