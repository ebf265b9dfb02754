// Events in groups, as bytes: what a store keeps.
#pragma once

#include <optional>

#include "pits/log/event.h"

namespace pits {

struct GroupTime {
  Microseconds utc = 0;      // since 1970; may jump in both directions
  Microseconds elapsed = 0;  // that the log has counted; never falls. Windows are measured by it.
};

// Guards what a store keeps against damage: the first 8 bytes of the SHA-256.
inline constexpr std::size_t checksum_size = 8;
std::string checksum(std::string_view bytes);

// Builds the bytes of a group.
class GroupWriter {
 public:
  template <class Kind>
  void add(const Kind& event) {
    std::uint8_t version = Kind::version;
    if constexpr (Kind::version > 1) version = event.has_added() ? Kind::version : 1;
    const std::size_t start = begin(Kind::tag, version);
    auto& fields = const_cast<Kind&>(event);  // writing changes nothing
    const auto write = [&](std::string_view, auto& field) { events_(field); };
    fields.visit(write);
    if constexpr (Kind::version > 1) {
      if (version > 1) fields.visit_added(write);
    }
    end(start);
  }
  std::uint32_t count() const { return count_; }
  // Layout: format (u8), utc, elapsed (i64), count (u32); per event tag, version (u8), size (u32), fields; then the
  // checksum of all that.
  std::string finish(const GroupTime& time) const;

 private:
  std::size_t begin(std::uint8_t tag, std::uint8_t version);  // where the fields start
  void end(std::size_t start);

  Archive events_;
  std::uint32_t count_ = 0;
};

// How many events the bytes of a group hold, by their head.
std::uint32_t event_count(std::string_view group);

// An event as it stands in a group, to be read when somebody needs what is in it.
struct PackedEvent {
  std::uint8_t tag = 0, version = 0;
  std::string fields{};

  // Of a Decided or a Restored, whose first field it is; none: another event.
  std::optional<DecisionId> decision() const;
  Event event() &&;  // once
};

// Reads the bytes of a group. An Error names the first event's number.
class GroupReader {
 public:
  GroupReader(std::string bytes, EventNumber first);

  EventNumber first() const { return first_; }
  EventNumber last() const { return first_ + starts_.size() - 1; }
  const GroupTime& time() const { return time_; }
  Event event(EventNumber number) const;
  // A tag or version of a newer pits is an Error here already.
  PackedEvent packed(EventNumber number) const;
  std::uint8_t tag(EventNumber number) const;

 private:
  std::string bytes_;
  EventNumber first_;
  GroupTime time_;
  std::vector<std::size_t> starts_;  // of the events
};

}  // namespace pits
