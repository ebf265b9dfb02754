// The unpacker (plain, gz, xz, zip, Z) and the CSV reader behind it.
#include "pits/data/csv.h"

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/rows_text.h"
#include "fuzz/target.h"
#include "pits/data/bytes.h"

namespace pits::fuzz {
namespace {

constexpr std::size_t most_unpacked = 1 << 20;  // a small pack may hold gigabytes, which is no fault but takes long

// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("no file in memory");
    }
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

std::string unpacked(std::string_view bytes) {
  const MemoryFile file(bytes);
  std::string content;
  read_unpacked(file.path(), [&](std::string_view piece) {
    content += piece;
    if (content.size() > most_unpacked) throw bad_input("too much");
  });
  return content;
}

}  // namespace

bool reads(std::string_view bytes) {
  std::string content;
  if (!outcome_of([&] { return content = unpacked(bytes); }).read) return false;
  return reads_in_any_pieces(content, [&](std::size_t piece) {
    std::string rows;
    CsvReader reader("file", {}, append_to(rows));
    feed(reader, content, piece);
    reader.finish();
    return rows;
  });
}

}  // namespace pits::fuzz
