#include "pits/core/io/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "pits/core/error.h"

namespace pits {
namespace {

Error cannot(std::string_view verb, const std::filesystem::path& path) {
  return bad_input("cannot {} '{}': {}", verb, path.string(), std::strerror(errno));
}

// While working: a full disk, or a directory that is gone.
Error lost(const std::filesystem::path& path) {
  return failed("cannot write '{}': {}", path.string(), std::strerror(errno));
}

// A rename would replace a directory's or a device's name.
void check_replaceable(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw bad_input("cannot write '{}': it is not a regular file", path.string());
  }
}

// What a link names, so that the link stays one.
std::filesystem::path behind_links(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_symlink(path, ignored) ? std::filesystem::weakly_canonical(path) : path;
}

// ".PROCESS-NUMBER.tmp": a name of its own for every write, so that two of the same file do not meet.
std::string unfinished_suffix() {
  static std::atomic<unsigned> number = 0;
  return fmt::format(".{}-{}.tmp", ::getpid(), number++);
}

bool is_unfinished(std::string_view name) {
  constexpr std::string_view digits = "0123456789", end = ".tmp";
  const auto take_digits = [&] {
    const std::size_t rest = name.find_last_not_of(digits) + 1;  // 0: nothing but digits
    const bool some = rest < name.size();
    name = name.substr(0, rest);
    return some;
  };
  if (!name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  if (!take_digits() || !name.ends_with('-')) return false;
  name.remove_suffix(1);
  return take_digits() && name.ends_with('.');
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::size_t most) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw bad_input("cannot read '{}': it is a directory", path.string());
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw cannot("read", path);
  std::string content;
  std::array<char, 1 << 16> part;
  do {
    in.read(part.data(), part.size());  // unlike operator<< of a buffer, it tells a failed read from the end
    content.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (content.size() > most) throw bad_input("'{}' is larger than {} bytes", path.string(), most);
  } while (in);
  if (in.bad()) throw cannot("read", path);
  return content;
}

AtomicFile::AtomicFile(const std::filesystem::path& target)
    : target_((check_replaceable(target), behind_links(target))) {
  struct stat before {};
  const bool replaces = ::stat(target_.c_str(), &before) == 0;
  const mode_t permissions = replaces ? before.st_mode & 0777 : 0644;
  do {
    path_ = target_.string() + unfinished_suffix();
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) throw cannot("write", target);
  if (replaces) ::fchmod(descriptor_, permissions);  // what the umask took away; some file systems have no permissions
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!complete_) ::unlink(path_.c_str());
}

void AtomicFile::write(std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor_, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw lost(target_);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::finish() {
  if (::fsync(descriptor_) != 0) throw lost(target_);
  if (::rename(path_.c_str(), target_.c_str()) != 0) throw lost(target_);
  complete_ = true;
}

void check_writable(const std::filesystem::path& path) { const AtomicFile probe(path); }

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.finish();
}

void remove_unfinished(const std::filesystem::path& directory) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (is_unfinished(entry.path().filename().string())) std::filesystem::remove(entry.path(), ignored);
  }
}

void sync_directory(const std::filesystem::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // one may be allowed to write to a directory and not to read it
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  errno = error;
  if (error != 0 && error != EINVAL && error != ENOTSUP) throw lost(directory);  // some file systems sync no directory
}

void create_directories_durably(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> missing;
  const std::filesystem::path whole = std::filesystem::absolute(path / "").parent_path();
  for (auto part = whole; !std::filesystem::exists(part); part = part.parent_path()) missing.push_back(part);
  create_directories_or_throw(whole);
  for (const auto& part : missing) sync_directory(part.parent_path());
}

void create_directories_or_throw(const std::filesystem::path& path) {
  std::error_code status;
  std::filesystem::create_directories(path, status);
  if (status) throw bad_input("cannot create the directory '{}': {}", path.string(), status.message());
}

DirectoryLock::DirectoryLock(const std::filesystem::path& directory)
    : descriptor_(::open((directory / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)), owner_(::getpid()) {
  if (descriptor_ < 0) throw cannot("write", directory / ".lock");
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    throw bad_input("the directory '{}' is in use by another pits", directory.string());
  }
}

// A lock lives until the last copy of its descriptor is closed, and a fork copies it: unlock for all copies.
DirectoryLock::~DirectoryLock() {
  if (owner_ == ::getpid()) ::flock(descriptor_, LOCK_UN);
  ::close(descriptor_);
}

}  // namespace pits
