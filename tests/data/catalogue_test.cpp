#include "pits/data/catalogue.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "data/numbers.h"
#include "data/packed.h"
#include "data/variables.h"
#include "experiment/expect_error.h"
#include "pits/data/source/check.h"
#include "pits/data/source/locate.h"

namespace pits {
namespace {

using test::Scratch;
using test::Variable;

const DataSet numbers = test::numbers_set();
const DataFile& numbers_file = numbers.files.front();

TEST(Catalogue, HasTheSevenDataSetsOfTheBenchmark) {
  std::set<std::string> names;
  for (const DataSet& set : data_catalogue()) {
    EXPECT_TRUE(names.insert(set.name).second) << set.name << " twice";
  }
  for (const char* name : {"mushroom", "statlog", "covertype", "adult", "census", "financial", "jester"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Catalogue, EveryFileHasAHomeAndKnownContent) {
  const std::regex hex("[0-9a-f]{64}"), address("https://[a-z.]+/.*[^/]");
  for (const DataSet& set : data_catalogue()) {
    EXPECT_FALSE(set.summary.empty() || set.problem.empty() || set.licence.empty() || set.citation.empty()) << set.name;
    EXPECT_EQ(set.columns.empty(), set.format == FileFormat::npy) << set.name;
    ASSERT_FALSE(set.files.empty()) << set.name;
    for (const DataFile& file : set.files) {
      EXPECT_FALSE(file.addresses.empty()) << file.name;
      for (const std::string& home : file.addresses) EXPECT_TRUE(std::regex_match(home, address)) << home;
      ASSERT_FALSE(file.contents.empty()) << file.name;
      EXPECT_EQ(file.contents.front().remark, "") << file.name;
      for (const Content& content : file.contents) EXPECT_TRUE(std::regex_match(content.sha256, hex)) << file.name;
    }
  }
}

TEST(Catalogue, OnlyTheSubsetOfCensusNeedsARemark) {
  for (const DataSet& set : data_catalogue()) {
    for (const DataFile& file : set.files) {
      for (std::size_t i = 1; i < file.contents.size(); ++i) {
        EXPECT_EQ(set.name, "census");
        test::expect_mentions(file.contents[i].remark, {"15,317", "2,458,285"});
      }
    }
  }
}

TEST(Catalogue, UnknownNamesGetADidYouMean) {
  EXPECT_EQ(find_data_set("adult").name, "adult");
  test::expect_mentions(test::message_of([] { find_data_set("adlut"); }), {"'adlut'", "did you mean 'adult'?"});
}

TEST(SearchOrder, IsTheGivenDirectoryThenPitsDataThenTheCacheThenTheSystem) {
  const Scratch given, from_variable, cache, system, later;
  const Variable data("PITS_DATA", from_variable.path()), xdg("XDG_CACHE_HOME", cache.path()),
      share("XDG_DATA_DIRS", "relative::" + system.path().string() + ":" + later.path().string());
  for (const auto& directory : {cache / "pits", system / "pits/data", later / "pits/data"}) {
    std::filesystem::create_directories(directory);
  }
  EXPECT_THROW(find_data_file(numbers, numbers_file, given.path()), Error);
  for (const auto& directory :
       {later / "pits/data", system / "pits/data", cache / "pits", from_variable.path(), given.path()}) {
    test::write_bytes(directory / "numbers.txt", "");
    EXPECT_EQ(find_data_file(numbers, numbers_file, given.path()), directory / "numbers.txt");
  }
  EXPECT_EQ(find_data_file(numbers, numbers_file, ""), from_variable / "numbers.txt");
}

TEST(SearchOrder, TakesOtherNamesAndPackedFiles) {
  const Scratch given;
  for (const char* name : {"seq.txt.zip", "seq.txt", "numbers.txt.Z", "numbers.txt.xz", "numbers.txt.gz"}) {
    test::write_bytes(given / name, "");
    EXPECT_EQ(find_data_file(numbers, numbers_file, given.path()), given / name);
  }
}

TEST(SearchOrder, CacheIsUnderXdgCacheHomeOrHome) {
  const Variable home("HOME", "/somewhere");
  {
    const Variable xdg("XDG_CACHE_HOME", "/cache");
    EXPECT_EQ(data_cache(), "/cache/pits");
  }
  for (const std::optional<std::string>& ignored : {std::optional<std::string>(), {"relative"}}) {
    const Variable xdg("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(data_cache(), "/somewhere/.cache/pits");
    const Variable homeless("HOME", std::nullopt);
    EXPECT_EQ(data_cache(), "");
  }
}

TEST(SearchOrder, ADirectoryThatIsAskedForMustExist) {
  const Scratch scratch;
  const std::string none = scratch / "none";
  test::expect_mentions(test::message_of([&] { data_directories(none); }), {none, "does not exist"});
  const Variable data("PITS_DATA", none);
  test::expect_mentions(test::message_of([&] { data_directories(scratch.path()); }), {none, "does not exist"});
}

TEST(SearchOrder, AMissingFileNamesItsHomeAndWhereToPutIt) {
  const Scratch given;
  const Variable data("PITS_DATA", std::nullopt), xdg("XDG_CACHE_HOME", "/cache");
  const std::string message = test::message_of([&] { find_data_file(numbers, numbers_file, given.path()); });
  test::expect_mentions(message, {"numbers.txt", "pits data fetch numbers", numbers_file.addresses.front(),
                                  given.path().string(), "/cache/pits"});
}

class Verification : public testing::Test {
 protected:
  Content read(
      std::string_view bytes, const std::function<void(std::string_view)>& sink = [](std::string_view) {}) {
    test::write_bytes(scratch_ / "numbers.txt", bytes);
    const std::filesystem::path path = scratch_ / "numbers.txt";
    return read_data_file(numbers_file, path, path.string(), sink);
  }
  std::string refusal(std::string_view bytes) {
    std::string message = test::message_of([&] { read(bytes); });
    test::expect_mentions(message, {(scratch_ / "numbers.txt").string()});
    return message;
  }

  Scratch scratch_;
};

TEST_F(Verification, AcceptsEveryListedContentAndSaysWhich) {
  std::string text;
  EXPECT_EQ(read(test::numbers_text(), [&](std::string_view piece) { text += piece; }).remark, "");
  EXPECT_EQ(text, test::numbers_text());
  EXPECT_EQ(read(test::from_hex(test::abc_gz)).remark, "three letters");
}

TEST_F(Verification, RefusesTruncatedFlippedAndEmptyFiles) {
  std::string text = test::numbers_text();
  test::expect_mentions(refusal(text.substr(0, text.size() - 1)), {"588889 bytes", "588890 bytes"});
  test::expect_mentions(refusal(""), {"0 bytes"});
  text[text.size() / 2] ^= 1;
  test::expect_mentions(refusal(text), {numbers_file.contents.front().sha256, " or 3 bytes"});
  std::string packed = test::from_hex(test::abc_gz);
  packed[11] ^= 1;
  refusal(packed);
}

TEST_F(Verification, RefusesADirectory) {
  std::filesystem::create_directory(scratch_ / "numbers.txt");
  const std::string message = test::message_of(
      [&] { read_data_file(numbers_file, scratch_ / "numbers.txt", "numbers.txt", [](std::string_view) {}); });
  test::expect_mentions(message, {"numbers.txt' is a directory"});
}

// 1 MiB is left for headers of packed files.
TEST_F(Verification, StopsReadingWhatIsTooLarge) {
  EXPECT_EQ(most_bytes(numbers_file), 588'890U + (1U << 20));
  std::uint64_t seen = 0;
  const std::string message = test::message_of(
      [&] { read(std::string(5'000'000, '1'), [&](std::string_view piece) { seen += piece.size(); }); });
  test::expect_mentions(message, {"numbers.txt", "more than 1637466 bytes", "588890 bytes"});
  EXPECT_LE(seen, most_bytes(numbers_file));
}

// A reader that stumbles over damage must not hide that the file is damaged; one that dislikes good content is heard.
TEST_F(Verification, DamageComesBeforeTheReadersComplaint) {
  const auto stumble = [](std::string_view) { throw bad_input("line 1 is odd"); };
  test::expect_mentions(test::message_of([&] { read("damaged", stumble); }), {"not numbers.txt", "7 bytes"});
  EXPECT_EQ(test::message_of([&] { read("abc", stumble); }), "line 1 is odd");
}

}  // namespace
}  // namespace pits
