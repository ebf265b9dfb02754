#include "pits/core/io/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"

namespace pits {
namespace {

using test::bytes_of;
using test::expect_mentions;
using test::message_of;
using test::names_in;
using test::Scratch;
using test::write_bytes;

TEST(ReadFile, GivesBackEveryByte) {
  const Scratch scratch;
  std::string content;
  for (int i = 0; i < 70000; ++i) content += static_cast<char>(i * 7);
  write_bytes(scratch / "bytes", content);
  EXPECT_EQ(read_file(scratch / "bytes"), content);
  write_bytes(scratch / "empty", "");
  EXPECT_EQ(read_file(scratch / "empty"), "");
}

TEST(ReadFile, ErrorsNameTheFileAndTheReason) {
  const Scratch scratch;
  expect_mentions(message_of([&] { read_file(scratch / "absent"); }), {(scratch / "absent").string(), "No such file"});
  expect_mentions(message_of([&] { read_file(scratch.path()); }), {scratch.path().string(), "is a directory"});
  const std::string too_long(5000, 'a');
  expect_mentions(message_of([&] { read_file(scratch / too_long); }), {"File name too long"});
}

TEST(ReadFile, AReadThatFailsHalfwayIsAnErrorAndNotAShorterFile) {
  expect_mentions(message_of([] { read_file("/proc/self/mem"); }), {"cannot read '/proc/self/mem'"});
}

TEST(WriteFile, CreatesAndReplacesAndLeavesNothingElse) {
  const Scratch scratch;
  const std::string binary("\0\n\xff tail", 8);
  write_file_atomically(scratch / "a", "first, and longer than the second");
  write_file_atomically(scratch / "a", binary);
  EXPECT_EQ(bytes_of(scratch / "a"), binary);
  EXPECT_EQ(names_in(scratch.path()), std::set<std::string>{"a"});
}

TEST(WriteFile, KeepsThePermissionsOfTheFileThatItReplaces) {
  const Scratch scratch;
  const auto file = scratch / "file";
  write_file_atomically(file, "old");
  for (const auto permissions : {0600, 0640, 0666, 0400}) {
    std::filesystem::permissions(file, static_cast<std::filesystem::perms>(permissions));
    write_file_atomically(file, "new");
    EXPECT_EQ(std::filesystem::status(file).permissions(), static_cast<std::filesystem::perms>(permissions));
  }
}

TEST(WriteFile, LeavesFilesOfOthersAlone) {
  const Scratch scratch;
  write_bytes(scratch / "a.tmp", "somebody's");
  write_file_atomically(scratch / "a", "x");
  EXPECT_EQ(bytes_of(scratch / "a"), "x");
  EXPECT_EQ(bytes_of(scratch / "a.tmp"), "somebody's");
}

TEST(WriteFile, WritesThroughALink) {
  const Scratch scratch;
  write_bytes(scratch / "a", "old");
  std::filesystem::create_symlink("a", scratch / "link");
  write_file_atomically(scratch / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(scratch / "link"));
  EXPECT_EQ(bytes_of(scratch / "a"), "new");
  EXPECT_EQ(names_in(scratch.path()), (std::set<std::string>{"a", "link"}));
}

TEST(WriteFile, OfSeveralWritersOneWins) {
  const Scratch scratch;
  const auto content = [](std::size_t writer) { return std::string(100000, static_cast<char>('a' + writer)); };
  {
    std::vector<std::jthread> writers;
    for (std::size_t w = 0; w < 4; ++w) {
      writers.emplace_back([&, w] {
        for (int i = 0; i < 10; ++i) write_file_atomically(scratch / "a", content(w));
      });
    }
  }
  const std::string last = bytes_of(scratch / "a");
  EXPECT_EQ(last, content(static_cast<std::size_t>(last.at(0) - 'a')));
  EXPECT_EQ(names_in(scratch.path()), std::set<std::string>{"a"});
}

TEST(WriteFile, TheRestOfAWriteThatWasKilledCanBeRemoved) {
  const Scratch scratch;
  for (const char* name : {"a.71-0.tmp", "b.json.12345-678.tmp", "a", "a.tmp", "a.71-.tmp", "a-1.tmp", "71-0.tmp"}) {
    write_bytes(scratch / name, "half of someth");
  }
  remove_unfinished(scratch.path());
  EXPECT_EQ(names_in(scratch.path()), (std::set<std::string>{"a", "a.tmp", "a.71-.tmp", "a-1.tmp", "71-0.tmp"}));
  EXPECT_NO_THROW(remove_unfinished(scratch / "absent"));
}

TEST(WriteFile, ErrorsNameTheFileThatWasAskedFor) {
  const Scratch scratch;
  const std::string message = message_of([&] { write_file_atomically(scratch / "no/such/file", "x"); });
  expect_mentions(message, {"'" + (scratch / "no/such/file").string() + "'", "No such file"});
  EXPECT_TRUE(names_in(scratch.path()).empty());
}

TEST(WriteFile, DoesNotReplaceWhatIsNoRegularFile) {
  const Scratch scratch;
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::filesystem::create_directory(scratch / "directory");
  for (const char* name : {"pipe", "directory"}) {
    expect_mentions(message_of([&] { write_file_atomically(scratch / name, "x"); }), {name, "not a regular file"});
  }
  EXPECT_TRUE(std::filesystem::is_fifo(scratch / "pipe"));
  EXPECT_TRUE(std::filesystem::is_directory(scratch / "directory"));
  EXPECT_EQ(names_in(scratch.path()), (std::set<std::string>{"directory", "pipe"}));
}

// No file of this process may grow beyond `bytes` while this lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*old_handler_)(int);
  rlimit old_limit_{};
};

TEST(WriteFile, AWriteThatFailsHalfwayKeepsTheOldFile) {
  const Scratch scratch;
  write_file_atomically(scratch / "a", "old");
  std::string message;
  {
    const FileSizeLimit limit(1000);
    message = message_of([&] { write_file_atomically(scratch / "a", std::string(5000, 'n')); }, ErrorKind::failed);
  }
  expect_mentions(message, {(scratch / "a").string() + "'", "File too large"});
  EXPECT_EQ(bytes_of(scratch / "a"), "old");
  EXPECT_EQ(names_in(scratch.path()), std::set<std::string>{"a"});
}

TEST(AtomicFile, IsThereOnceItIsComplete) {
  const Scratch scratch;
  write_bytes(scratch / "a", "old");
  {
    AtomicFile file(scratch / "a");
    file.write("first ");
    file.write("second");
    EXPECT_EQ(bytes_of(scratch / "a"), "old");
    file.finish();
    EXPECT_EQ(bytes_of(scratch / "a"), "first second");
  }
  {
    AtomicFile never(scratch / "a");
    never.write("half");
  }
  EXPECT_EQ(bytes_of(scratch / "a"), "first second");
  EXPECT_EQ(names_in(scratch.path()), std::set<std::string>{"a"});
}

TEST(CheckWritable, LeavesEverythingAsItWas) {
  const Scratch scratch;
  write_bytes(scratch / "a", "old");
  check_writable(scratch / "a");
  check_writable(scratch / "b");
  EXPECT_EQ(bytes_of(scratch / "a"), "old");
  EXPECT_EQ(names_in(scratch.path()), std::set<std::string>{"a"});
  expect_mentions(message_of([&] { check_writable(scratch / "no/file"); }), {"no/file"});
  expect_mentions(message_of([&] { check_writable(scratch.path()); }), {scratch.path().string()});
}

TEST(CreateDirectories, MakesAllOfThemAndAcceptsThatTheyExist) {
  const Scratch scratch;
  create_directories_or_throw(scratch / "a/b/c");
  create_directories_or_throw(scratch / "a/b/c");
  for (const char* path : {"a/b/d/e", "f/", "f"}) {
    create_directories_durably(scratch / path);
    EXPECT_TRUE(std::filesystem::is_directory(scratch / path)) << path;
  }
  sync_directory(scratch / "f");
  sync_directory(scratch / "not there");
  EXPECT_TRUE(std::filesystem::is_directory(scratch / "a/b/c"));
}

TEST(CreateDirectories, AFileInTheWayIsNamed) {
  const Scratch scratch;
  write_bytes(scratch / "file", "");
  expect_mentions(message_of([&] { create_directories_or_throw(scratch / "file/below"); }), {"file/below"});
}

TEST(DirectoryLock, IsHeldByOneAtATime) {
  const Scratch scratch;
  {
    const DirectoryLock held(scratch.path());
    expect_mentions(message_of([&] { DirectoryLock second(scratch.path()); }),
                    {scratch.path().string(), "in use by another pits"});
  }
  const DirectoryLock again(scratch.path());
}

// 0: got the lock, 3: refused.
int lock_in_another_process(const std::filesystem::path& directory) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const DirectoryLock lock(directory);
      ::_exit(0);
    } catch (const Error& e) {
      ::_exit(e.exit_code());
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(DirectoryLock, IsRefusedToAnotherProcessAndFreeAfterOneDies) {
  const Scratch scratch;
  {
    const DirectoryLock held(scratch.path());
    EXPECT_EQ(lock_in_another_process(scratch.path()), 3);
  }
  EXPECT_EQ(lock_in_another_process(scratch.path()), 0);  // ends without its destructor
  const DirectoryLock again(scratch.path());
}

TEST(DirectoryLock, AForkedProcessNeitherKeepsItNorGivesItBack) {
  const Scratch scratch;
  auto held = std::make_unique<DirectoryLock>(scratch.path());
  const auto forked = [&](const auto& body) {
    const pid_t child = ::fork();
    if (child == 0) {
      body();
      ::_exit(0);
    }
    return child;
  };
  ::waitpid(forked([&] { held.reset(); }), nullptr, 0);
  expect_mentions(message_of([&] { DirectoryLock second(scratch.path()); }), {"in use"});
  const pid_t child = forked([] { ::pause(); });
  held.reset();
  EXPECT_NO_THROW(DirectoryLock again(scratch.path()));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(DirectoryLock, ADirectoryThatIsNotThereIsNamed) {
  expect_mentions(message_of([] { DirectoryLock lock("/proc/no-such-directory"); }), {"/proc/no-such-directory/.lock"});
}

}  // namespace
}  // namespace pits
