#include "pits/data/read/bytes.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <vector>

#include "pits/core/error.h"
#include "pits/core/interrupt.h"
#include "pits/core/io/sha256.h"

namespace pits {
namespace {

constexpr std::size_t piece_size = 1 << 18;

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

std::string reason(archive* a) {
  const char* text = archive_error_string(a);
  return text == nullptr ? "cannot be unpacked" : text;
}

// Raw bytes under whatever filter (compress, gzip, xz) they are packed with, or a zip.
Archive open_archive(const std::filesystem::path& file) {
  Archive a(archive_read_new(), archive_read_free);
  if (!a) throw failed("libarchive is out of memory");
  archive_read_support_filter_compress(a.get());
  archive_read_support_filter_gzip(a.get());
  archive_read_support_filter_xz(a.get());
  archive_read_support_format_zip(a.get());
  archive_read_support_format_raw(a.get());
  archive_read_support_format_empty(a.get());
  if (archive_read_open_filename(a.get(), file.c_str(), piece_size) != ARCHIVE_OK) {
    throw bad_input("'{}': {}", file.string(), reason(a.get()));
  }
  return a;
}

// True where the archive has one more file; false at its end.
bool next_entry(archive* a, const std::filesystem::path& file) {
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(a, &entry);
  if (status == ARCHIVE_EOF) return false;
  if (status != ARCHIVE_OK) throw bad_input("'{}': {}", file.string(), reason(a));
  return true;
}

}  // namespace

Digest read_unpacked(const std::filesystem::path& file, const std::function<void(std::string_view)>& sink) {
  if (!std::filesystem::exists(file)) throw bad_input("'{}': no such file", file.string());
  if (std::filesystem::is_directory(file)) throw bad_input("'{}' is a directory, not a file", file.string());
  const Archive a = open_archive(file);
  Digest digest;
  Sha256 sha;
  if (next_entry(a.get(), file)) {
    std::vector<char> buffer(piece_size);
    for (;;) {
      check_interrupt();
      const la_ssize_t n = archive_read_data(a.get(), buffer.data(), buffer.size());
      if (n == 0) break;
      if (n < 0) throw bad_input("'{}' is damaged: {}", file.string(), reason(a.get()));
      const std::string_view piece(buffer.data(), static_cast<std::size_t>(n));
      sha.add(piece);
      digest.bytes += piece.size();
      sink(piece);
    }
    if (next_entry(a.get(), file)) throw bad_input("'{}' holds more than one file", file.string());
  }
  digest.sha256 = fmt::format("{:02x}", fmt::join(sha.finish(), ""));
  return digest;
}

}  // namespace pits
