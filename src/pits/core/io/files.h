// Files in and out. A file written here appears whole or not at all, also after a crash.
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

namespace pits {

// A file that is written piece by piece beside its target and replaces it when finished, with the target's permissions;
// removed if it is never finished.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view content);
  void finish();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool complete_ = false;
};

// Throws an Error that names the file and the reason; so does a file of more than `most` bytes, before it fills the
// memory.
std::string read_file(const std::filesystem::path& path, std::size_t most = std::numeric_limits<std::size_t>::max());
// Throws now what writing the file after hours of work would throw; leaves nothing behind.
void check_writable(const std::filesystem::path& path);
void write_file_atomically(const std::filesystem::path& path, std::string_view content);
// Removes what killed processes have left of files; for a directory that nobody else writes to.
void remove_unfinished(const std::filesystem::path& directory);

// Makes names of files that were added, renamed or removed durable. Nothing happens where the directory cannot be read.
void sync_directory(const std::filesystem::path& directory);
void create_directories_or_throw(const std::filesystem::path& path);
// The entries of new directories survive a loss of power, as files in them do that are synced.
void create_directories_durably(const std::filesystem::path& path);

// Holds DIR/.lock for its lifetime, so that two processes never write to one directory. A process forked meanwhile
// neither keeps the lock nor gives it back.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_;
  int owner_;  // process
};

}  // namespace pits
