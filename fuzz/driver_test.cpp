// The short run in the suite, with any compiler: every file of the corpus and some thousand mutations of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "fuzz/target.h"
#include "pits/core/random.h"

namespace pits::fuzz {
namespace {

constexpr std::uint32_t mutations = 3000;
constexpr std::size_t longest = 4096;

std::map<std::string, std::string> corpus() {
  std::map<std::string, std::string> files;  // in the order of their names, so that mutations are always the same
  for (const auto& entry : std::filesystem::directory_iterator(PITS_CORPUS)) {
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().filename()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

// A change of some bytes: flipped, overwritten, removed, doubled, cut off, or followed by the end of another file.
std::string mutated(std::string bytes, const std::string& other, Stream& random) {
  const auto below = [&](std::size_t n) { return random.index(static_cast<std::uint32_t>(n)); };
  for (std::uint32_t changes = 1 + below(4); changes > 0; --changes) {
    if (bytes.empty()) return other;
    const std::size_t at = below(bytes.size()), count = 1 + below(16);
    switch (below(6)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8)); break;
      case 1: bytes[at] = std::string_view("\0\xff\",\n\r (9-.e", 13)[below(13)]; break;
      case 2: bytes.erase(at, count); break;
      case 3: bytes.insert(at, bytes.substr(at, count)); break;
      case 4: bytes.resize(at); break;
      default: bytes = bytes.substr(0, at) + other.substr(below(other.size() + 1)); break;
    }
  }
  return bytes.substr(0, longest);
}

TEST(Corpus, GoodFilesAreReadAndBadOnesRefused) {
  std::size_t good = 0, bad = 0;
  for (const auto& [name, bytes] : corpus()) {
    const bool expected = name.starts_with("good");
    EXPECT_TRUE(expected || name.starts_with("bad")) << name;
    EXPECT_EQ(reads(bytes), expected) << name;
    expected ? ++good : ++bad;
  }
  EXPECT_GT(good, 0U);
  EXPECT_GT(bad, 0U);
}

TEST(Corpus, MutationsAreReadOrRefused) {
  std::vector<std::string> files;
  for (const auto& [name, bytes] : corpus()) files.push_back(bytes);
  ASSERT_FALSE(files.empty());
  for (std::uint32_t i = 0; i < mutations; ++i) {
    Stream random({.step = i});
    const auto any = [&] { return files[random.index(static_cast<std::uint32_t>(files.size()))]; };
    const std::string first = any(), second = any();
    EXPECT_NO_THROW(reads(mutated(first, second, random))) << "mutation " << i;
  }
}

}  // namespace
}  // namespace pits::fuzz
