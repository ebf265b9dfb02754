// The unpacker (plain, gz, xz, zip, Z), the CSV reader behind it, and the tables of a user's file.
#include "pits/data/read/csv.h"

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/rows_text.h"
#include "fuzz/target.h"
#include "pits/data/read/bytes.h"
#include "pits/data/read/csv_table.h"

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

// Any Error is fine; anything else reaches the driver.
void make_tables(std::string_view content) {
  const MemoryFile file(content);
  const CsvTableConfig config{.file = file.path()};
  for (const char* label : {"1", "kind"}) {
    outcome_of([&] { return labelled_csv_table(config, label)->remark; });
  }
  for (const std::size_t actions : {0, 2}) outcome_of([&] { return rewards_csv_table(config, actions)->remark; });
}

}  // namespace

bool reads(std::string_view bytes) {
  std::string content;
  if (!outcome_of([&] { return content = unpacked(bytes); }).read) return false;
  make_tables(content);
  return reads_in_any_pieces(content, [&](std::size_t piece) {
    std::string rows;
    CsvReader reader("file", {}, append_to(rows));
    feed(reader, content, piece);
    reader.finish();
    return rows;
  });
}

}  // namespace pits::fuzz
