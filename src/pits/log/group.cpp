#include "pits/log/group.h"

#include <cstring>
#include <limits>

#include "pits/core/damaged.h"
#include "pits/core/io/sha256.h"

namespace pits {
namespace {

constexpr std::uint8_t group_format = 1;
constexpr std::size_t head_size = 1 + 2 * sizeof(Microseconds) + sizeof(std::uint32_t);
constexpr std::size_t event_head_size = 2 + sizeof(std::uint32_t);

template <class T>
T read_at(std::string_view bytes, std::size_t position) {
  T value;
  std::memcpy(&value, bytes.data() + position, sizeof value);
  return value;
}

template <class Kind>
void check_version(std::uint8_t version) {
  if (version == 0 || version > Kind::version) {
    throw bad_input("a '{}' event has version {}; this pits reads version {}{}", Kind::name, version,
                    Kind::version > 1 ? "1 to " : "", Kind::version);
  }
}

template <class Kind>
Event read_fields(std::uint8_t version, std::string fields) {
  Kind event;
  Archive archive(std::move(fields));
  const auto read = [&](std::string_view, auto& field) { archive(field); };
  event.visit(read);
  if constexpr (Kind::version > 1) {
    if (version > 1) event.visit_added(read);
  }
  archive.finish();
  return event;
}

// Calls what() with an event type.
template <std::size_t i = 0, class What>
auto with_kind(std::uint8_t tag, What&& what) {
  using Kind = std::variant_alternative_t<i, Event>;
  if (tag == Kind::tag) return what.template operator()<Kind>();
  if constexpr (i + 1 < std::variant_size_v<Event>) {
    return with_kind<i + 1>(tag, std::forward<What>(what));
  } else {
    throw bad_input("an event has the unknown tag {}: written by a newer pits", tag);
  }
}

// Enumerations of an event that came from outside.
void check_enums(const Event& event) {
  const auto* settled = std::get_if<Settled>(&event);
  if (settled != nullptr && static_cast<std::size_t>(settled->reason) >= enum_names<SettleReason>.size()) {
    throw bad_input("a 'settled' event has the unknown reason {}", static_cast<int>(settled->reason));
  }
}

// An Error of what is done there names the event.
template <class What>
auto in_event(EventNumber number, What&& what) {
  try {
    return what();
  } catch (const Error& e) {
    throw Error(e.kind(), fmt::format("event {}: {}", number, e.what()));
  }
}

}  // namespace

std::string checksum(std::string_view bytes) {
  Sha256 sha;
  sha.add(bytes);
  const auto digest = sha.finish();
  return {reinterpret_cast<const char*>(digest.data()), checksum_size};
}

std::size_t GroupWriter::begin(std::uint8_t tag, std::uint8_t version) {
  std::uint32_t size = 0;
  events_(tag, version, size);
  return events_.bytes().size();
}

void GroupWriter::end(std::size_t start) {
  const std::size_t size = events_.bytes().size() - start;
  if (size > std::numeric_limits<std::uint32_t>::max()) throw bad_input("an event of {} bytes is too large", size);
  events_.overwrite(start - sizeof(std::uint32_t), static_cast<std::uint32_t>(size));
  ++count_;
}

std::string GroupWriter::finish(const GroupTime& time) const {
  Archive head;
  std::uint8_t format = group_format;
  GroupTime t = time;
  std::uint32_t n = count_;
  head(format, t.utc, t.elapsed, n);
  std::string bytes = head.bytes() + events_.bytes();
  return bytes += checksum(bytes);
}

std::uint32_t event_count(std::string_view group) {
  return group.size() < head_size ? 0 : read_at<std::uint32_t>(group, head_size - sizeof(std::uint32_t));
}

GroupReader::GroupReader(std::string bytes, EventNumber first) : bytes_(std::move(bytes)), first_(first) {
  const auto damage = [&](std::string_view why) {
    return damaged("the group of events from number {} is damaged: {}", first_, why);
  };
  if (bytes_.size() < head_size + checksum_size) throw damage("it is too short");
  const std::string_view content = std::string_view(bytes_).substr(0, bytes_.size() - checksum_size);
  if (checksum(content) != std::string_view(bytes_).substr(content.size())) throw damage("its checksum does not match");
  if (const auto format = read_at<std::uint8_t>(bytes_, 0); format != group_format) {
    throw bad_input("the group of events from number {} has format {}; this pits reads format {}", first_, format,
                    group_format);
  }
  time_ = {.utc = read_at<Microseconds>(bytes_, 1), .elapsed = read_at<Microseconds>(bytes_, 1 + sizeof(Microseconds))};
  const auto count = read_at<std::uint32_t>(bytes_, head_size - sizeof(std::uint32_t));
  std::size_t position = head_size;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (content.size() - position < event_head_size) throw damage("it ends early");
    starts_.push_back(position);
    const auto size = read_at<std::uint32_t>(bytes_, position + 2);
    position += event_head_size;
    if (content.size() - position < size) throw damage("it ends early");
    position += size;
  }
  if (count == 0 || position != content.size()) throw damage("its size is not that of its events");
}

std::uint8_t GroupReader::tag(EventNumber number) const {
  return read_at<std::uint8_t>(bytes_, starts_[number - first_]);
}

std::optional<DecisionId> PackedEvent::decision() const {
  if (tag != Decided::tag && tag != Restored::tag) return std::nullopt;
  if (fields.size() < sizeof(DecisionId)) throw bad_input("the fields of a decision end early");
  return read_at<DecisionId>(fields, 0);
}

Event PackedEvent::event() && {
  Event event = with_kind(tag, [this]<class Kind>() { return read_fields<Kind>(version, std::move(fields)); });
  check_enums(event);
  return event;
}

PackedEvent GroupReader::packed(EventNumber number) const {
  const std::size_t start = starts_.at(number - first_);
  const auto size = read_at<std::uint32_t>(bytes_, start + 2);
  PackedEvent event{.tag = tag(number),
                    .version = read_at<std::uint8_t>(bytes_, start + 1),
                    .fields = bytes_.substr(start + event_head_size, size)};
  const auto check = [&]<class Kind>() { check_version<Kind>(event.version); };
  in_event(number, [&] { with_kind(event.tag, check); });
  return event;
}

Event GroupReader::event(EventNumber number) const {
  return in_event(number, [event = packed(number)]() mutable { return std::move(event).event(); });
}

}  // namespace pits
