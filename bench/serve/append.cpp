// The disk's own rate: append + fdatasync of 128-byte records in groups. Prints one line of JSON.
//
//   append_sync FILE [GROUP [SECONDS [BYTES]]]
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("append_sync FILE [GROUP [SECONDS [BYTES]]]\n");
    return 2;
  }
  const int group = argc > 2 ? std::atoi(argv[2]) : 100;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 3.0;
  const auto bytes = static_cast<std::size_t>(argc > 4 ? std::atoi(argv[4]) : 128);
  const int file = ::open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
  const std::string records(static_cast<std::size_t>(group) * bytes, 'x');
  const auto start = std::chrono::steady_clock::now();
  double taken = 0.0;
  double written = 0.0;
  while (taken < seconds) {
    if (::write(file, records.data(), records.size()) != static_cast<ssize_t>(records.size()) ||
        ::fdatasync(file) != 0) {
      fmt::print(stderr, "append_sync: cannot write {}\n", argv[1]);
      return 1;
    }
    written += group;
    taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  ::close(file);
  ::unlink(argv[1]);
  fmt::print("{{\"group\": {}, \"bytes\": {}, \"rate\": {:.0f}}}\n", group, bytes, written / taken);
  return 0;
}
