#include "pits/core/io/archive.h"

#include <algorithm>
#include <cstring>

#include "pits/core/io/sha256.h"

namespace pits {
namespace {

// The first byte is no text, and the line ends show a transfer that took the file for text (as PNG's do).
constexpr std::string_view magic = "\x89pits\r\n\n";
constexpr std::size_t digest_size = 32;

std::string digest_of(std::string_view bytes) {
  Sha256 sha;
  sha.add(bytes);
  const auto digest = sha.finish();
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

struct Header {
  std::uint32_t version = saved_version;
  std::uint64_t size = 0;  // of the whole file
};
constexpr std::size_t header_size = magic.size() + sizeof(Header::version) + sizeof(Header::size);

Header read_header(std::string_view file) {
  Header header;
  std::memcpy(&header.version, file.data() + magic.size(), sizeof header.version);
  std::memcpy(&header.size, file.data() + magic.size() + sizeof header.version, sizeof header.size);
  return header;
}

}  // namespace

void Archive::raw(void* data, std::size_t size) {
  if (size == 0) return;
  if (!reading_) {
    bytes_.append(static_cast<const char*>(data), size);
    return;
  }
  if (size > bytes_.size() - position_) throw bad_input("the saved state ends early");
  std::memcpy(data, bytes_.data() + position_, size);
  position_ += size;
}

void Archive::overwrite(std::size_t position, std::uint32_t value) {
  std::memcpy(bytes_.data() + position, &value, sizeof value);
}

Archive& Archive::version(std::string_view name, std::uint32_t current, std::uint32_t oldest) {
  const auto known = std::ranges::find(versions_, name, [](const auto& v) { return std::string_view(v.first); });
  if (!has_table_) {
    if (known == versions_.end()) versions_.emplace_back(name, current);
    return *this;
  }
  if (known == versions_.end()) throw bad_input("the saved state does not fit: it holds no {}", name);
  if (known->second > current) {
    throw bad_input("saved by a newer pits: the state of {} has version {}; this pits reads version {}", name,
                    known->second, current);
  }
  if (known->second < oldest) {
    throw bad_input("saved by an older pits: the state of {} has version {}; this pits reads version {}{}", name,
                    known->second, oldest, oldest == current ? "" : fmt::format(" to {}", current));
  }
  return *this;
}

std::uint32_t Archive::version_of(std::string_view name) const {
  return std::ranges::find(versions_, name, [](const auto& v) { return std::string_view(v.first); })->second;
}

std::string Archive::with_versions() const {
  Archive table;
  auto versions = versions_;
  table(versions);
  return table.bytes() + bytes_;
}

Archive Archive::from_versions(std::string bytes) {
  Archive archive(std::move(bytes));
  archive(archive.versions_);
  archive.has_table_ = true;
  return archive;
}

std::uint64_t Archive::count(std::uint64_t n, std::size_t element_bytes) {
  (*this)(n);
  if (reading_ && element_bytes > 0 && n > (bytes_.size() - position_) / element_bytes) {
    throw bad_input("the saved state ends early");
  }
  return n;
}

Archive::Shape Archive::shape(Shape shape, std::size_t element_bytes) {
  (*this)(shape.rows, shape.cols);
  const std::size_t left = (bytes_.size() - position_) / element_bytes;
  if (reading_ && shape.cols > 0 && shape.rows > left / shape.cols) throw bad_input("the saved state ends early");
  return shape;
}

void Archive::finish() const {
  if (reading_ && position_ != bytes_.size()) {
    throw bad_input("the saved state has {} bytes too many", bytes_.size() - position_);
  }
}

void check_saved_shape(std::size_t had_rows, std::size_t had_cols, std::size_t rows, std::size_t cols) {
  if (had_rows * had_cols == 0 || (had_rows == rows && had_cols == cols)) return;
  throw bad_input("the saved state does not fit: ({},{}) numbers where ({},{}) belong", rows, cols, had_rows, had_cols);
}

void state(Archive& archive, std::string& value) {
  const std::uint64_t n = archive.count(value.size(), 1);
  value.resize(n);
  archive.raw(value.data(), n);
}

std::string sealed(std::string_view kind, std::string_view bytes) {
  Archive payload;
  std::string name(kind);
  payload(name);
  Header header{.size = header_size + payload.bytes().size() + bytes.size() + digest_size};
  Archive head;
  head(header.version, header.size);
  std::string file = std::string(magic) + head.bytes() + payload.bytes();
  file += bytes;
  return file += digest_of(file);
}

std::string unsealed(std::string_view kind, std::string_view file, std::string_view source) {
  if (!file.starts_with(magic.substr(0, file.size())) || file.empty()) {
    throw bad_input("{}: not a file saved by pits", source);
  }
  if (file.size() < header_size) throw bad_input("{}: the file is truncated", source);
  const Header header = read_header(file);
  if (header.version > saved_version) {
    throw bad_input("{}: saved by a newer pits, in format {}; this one reads format {}", source, header.version,
                    saved_version);
  }
  if (header.version < saved_version) {
    throw bad_input("{}: saved by an older pits, in format {}; this one reads format {}", source, header.version,
                    saved_version);
  }
  if (file.size() < header.size) {
    throw bad_input("{}: the file is truncated: {} bytes of {}", source, file.size(), header.size);
  }
  const bool whole = file.size() == header.size && file.size() >= header_size + digest_size;
  const std::string_view content = file.substr(0, file.size() - (whole ? digest_size : 0));
  if (!whole || digest_of(content) != file.substr(content.size())) {
    throw bad_input("{}: the file is damaged: its checksum does not match", source);
  }
  Archive payload{std::string(content.substr(header_size))};
  std::string found;
  payload(found);
  if (found != kind) throw bad_input("{}: holds a saved '{}', not a '{}'", source, found, kind);
  return payload.bytes().substr(sizeof(std::uint64_t) + found.size());
}

}  // namespace pits
