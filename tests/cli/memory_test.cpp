// Memory stays flat in the number of cells.
#include <gtest/gtest.h>

#include "cli/process.h"
#include "cli/words.h"
#include "experiment/scratch.h"

namespace pits::test {
namespace {

// Thousands of small files are quick where nothing reaches a disk.
std::filesystem::path quick_directory(const Scratch& otherwise) {
  return ::access("/dev/shm", W_OK) == 0 ? std::filesystem::path("/dev/shm") : otherwise.path();
}

double peak_bytes(const std::filesystem::path& out, std::size_t cells, const std::string& more) {
  const std::string words = "run --agent uniform --env wheel --steps 200 --threads 1 " + more + " --realizations ";
  const Outcome outcome = pits(joined(words_of(words + std::to_string(cells)), {"--out", out.string()}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return 1024.0 * static_cast<double>(outcome.peak_kilobytes);
}

// A curve of 200 points is 1600 bytes: keeping all of them, or the text of all cells, would show.
TEST(Memory, OfARunDirectoryGrowsByLittleMoreThanTheFinalNumbers) {
#ifdef PITS_SANITIZED
  GTEST_SKIP() << "sanitizers keep what was freed";
#endif
  constexpr std::size_t few = 100, many = 5000;
  constexpr double most_bytes_a_cell = 600.0;
  const Scratch fallback;
  std::string pattern = (quick_directory(fallback) / "pits-test-XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::filesystem::path directory = pattern;
  for (const char* more : {"", "--resume"}) {
    const double first = peak_bytes(directory / "few", few, more);
    const double second = peak_bytes(directory / "many", many, more);
    EXPECT_LT((second - first) / (many - few), most_bytes_a_cell) << first << " and " << second << " bytes " << more;
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace pits::test
