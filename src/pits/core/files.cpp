#include "pits/core/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "pits/core/error.h"

namespace pits {
namespace {

Error cannot(std::string_view verb, const std::filesystem::path& path) {
  return bad_input("cannot {} '{}': {}", verb, path.string(), std::strerror(errno));
}

// Closes the descriptor and removes the file unless told that it is complete.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path path)
      : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) throw cannot("write", path_);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!complete_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw cannot("write", path_);
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor_) != 0) throw cannot("write", path_);
  }

  void rename_to(const std::filesystem::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) throw cannot("write", target);
    complete_ = true;
  }

 private:
  std::filesystem::path path_;
  int descriptor_;
  bool complete_ = false;
};

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) throw bad_input("cannot read '{}': it is a directory", path.string());
  std::ifstream in(path, std::ios::binary);
  if (!in) throw cannot("read", path);
  std::ostringstream content;
  content << in.rdbuf();
  if (in.bad()) throw cannot("read", path);
  return std::move(content).str();
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  TemporaryFile file(path.string() + ".tmp");
  file.write(content);
  file.rename_to(path);
}

void create_directories_or_throw(const std::filesystem::path& path) {
  std::error_code status;
  std::filesystem::create_directories(path, status);
  if (status) throw bad_input("cannot create the directory '{}': {}", path.string(), status.message());
}

DirectoryLock::DirectoryLock(const std::filesystem::path& directory)
    : descriptor_(::open((directory / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw cannot("write", directory / ".lock");
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    throw bad_input("the directory '{}' is in use by another pits", directory.string());
  }
}

DirectoryLock::~DirectoryLock() { ::close(descriptor_); }

}  // namespace pits
