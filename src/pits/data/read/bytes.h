// The unpacked bytes of a file, piece by piece. The file is plain or packed as gz, xz, zip or Z, which its content
// tells, not its name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace pits {

struct Digest {
  std::string sha256;  // lower-case hexadecimal
  std::uint64_t bytes = 0;
};

// Hands every piece of the unpacked content to `sink` in order and returns what was read. A zip must hold one file.
// A file that is missing, truncated or corrupt is an Error (bad input) that names it and the reason.
Digest read_unpacked(const std::filesystem::path& file, const std::function<void(std::string_view)>& sink);

}  // namespace pits
