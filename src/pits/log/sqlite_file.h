// The SQLite files of a log: WAL mode with synchronous=FULL, a mark that says whose they are, and a layout.
#pragma once

#include <cstdint>

#include "pits/log/sqlite.h"

namespace pits {

// Pages of the write-ahead log that are moved into the file at once, where a commit may wait for it.
constexpr int most_wal_pages = 2000;

// Makes the tables of a new file. An Error names a file that is damaged, another program's, or of another layout.
Database log_file_for_writing(const std::filesystem::path& file, const char* tables);
Database log_file_for_reading(const std::filesystem::path& file);

// Numbers from 0 on, as SQLite keeps them.
inline std::int64_t integer(std::uint64_t value) { return static_cast<std::int64_t>(value); }
inline std::uint64_t natural(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace pits
