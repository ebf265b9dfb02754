#include "pits/core/io/archive.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "experiment/expect_error.h"
#include "pits/core/io/sha256.h"

namespace pits::test {
namespace {

struct Point {
  float x = 0.0F;
  std::vector<double> more;
  void state(Archive& archive) { archive(x, more); }
  bool operator==(const Point&) const = default;
};

struct Everything {
  bool yes = false;
  std::int64_t number = 0;
  std::string text;
  std::vector<Point> points;
  std::pair<std::string, std::uint32_t> pair{};
  Matrix<float> matrix;

  void state(Archive& archive) { archive(yes, number, text, points, pair, matrix); }
};

std::string written(Everything& value) {
  Archive archive;
  archive(value);
  return archive.bytes();
}

Everything example() {
  Everything value{.yes = true,
                   .number = -5,
                   .text = "a name",
                   .points = {{1.5F, {1.0, std::numeric_limits<double>::infinity()}}, {}},
                   .pair = {"p", 7},
                   .matrix = Matrix<float>(2, 3)};
  for (std::size_t i = 0; i < 6; ++i) value.matrix.flat()[i] = static_cast<float>(i) / 3.0F;
  return value;
}

TEST(Archive, ReadsBackWhatItWrote) {
  Everything before = example();
  Everything after;
  Archive archive(written(before));
  archive(after);
  archive.finish();
  EXPECT_EQ(after.yes, before.yes);
  EXPECT_EQ(after.number, before.number);
  EXPECT_EQ(after.text, before.text);
  EXPECT_EQ(after.points, before.points);
  EXPECT_EQ(after.pair, before.pair);
  ASSERT_EQ(after.matrix.rows(), 2U);
  EXPECT_TRUE(std::ranges::equal(after.matrix.flat(), before.matrix.flat()));
}

// Little-endian numbers behind 64-bit counts: a file of today is read by a build of tomorrow.
TEST(Archive, BytesAreAsDocumented) {
  Archive archive;
  std::uint32_t number = 0x01020304;
  std::string text = "ab";
  std::vector<std::uint32_t> list = {5};
  archive(number, text, list);
  EXPECT_EQ(archive.bytes(), std::string("\x04\x03\x02\x01\x02\0\0\0\0\0\0\0ab\x01\0\0\0\0\0\0\0\x05\0\0\0", 26));
}

TEST(Archive, RefusesEveryTruncationAndWhatIsLeftOver) {
  Everything before = example();
  const std::string bytes = written(before);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    Archive archive(bytes.substr(0, n));
    Everything after;
    EXPECT_THROW(archive(after), Error) << n;
  }
  Archive archive(bytes + "x");
  Everything after;
  archive(after);
  EXPECT_THROW(archive.finish(), Error);
}

// A count beyond the bytes that are left must not be believed, nor asked of the allocator.
TEST(Archive, RefusesCountsThatTheBytesCannotHold) {
  Archive bytes;
  std::uint64_t huge = std::uint64_t{1} << 62;  // times the size of a float it would be 0
  bytes(huge, huge);
  std::vector<double> numbers;
  EXPECT_THROW(Archive(bytes.bytes())(numbers), Error);
  std::string text;
  EXPECT_THROW(Archive(bytes.bytes())(text), Error);
  Matrix<float> matrix;
  EXPECT_THROW(Archive(bytes.bytes())(matrix), Error);
}

TEST(Archive, KeepsTheShapeOfWhatHasOne) {
  Matrix<float> two_by_three(2, 3);
  Archive archive;
  archive(two_by_three);
  Matrix<float> same(2, 3), other(3, 2), empty;
  EXPECT_NO_THROW(Archive(archive.bytes())(same));
  EXPECT_NO_THROW(Archive(archive.bytes())(empty));
  expect_mentions(message_of([&] { Archive(archive.bytes())(other); }), {"(2,3)", "(3,2)"});
}

// A class as three later builds know it: the second has a field more, the third reads the second's list only.
struct First {
  float x = 1.0F;
  void state(Archive& archive) { archive.version("Thing", 1)(x); }
};
struct Second {
  float x = 0.0F;
  int steps = -7;
  void state(Archive& archive) {
    archive.version("Thing", 2, 1)(x);
    if (archive.version_of("Thing") >= 2) archive(steps);
  }
};
struct Third {
  int steps = 0;
  void state(Archive& archive) { archive.version("Thing", 3, 2)(steps); }
};

template <class From, class To>
To passed(From from) {
  Archive out;
  std::vector<From> two = {from, from};
  out(two);
  Archive in = Archive::from_versions(out.with_versions());
  std::vector<To> read;
  in(read);
  in.finish();
  EXPECT_EQ(read.size(), 2U);
  return read.back();
}

TEST(ArchiveVersions, OlderListsAreReadWhereTheClassSaysSo) {
  const auto older = passed<First, Second>({.x = 2.5F});
  EXPECT_EQ(older.x, 2.5F);
  EXPECT_EQ(older.steps, -7) << "as it was made";
  const auto same = passed<Second, Second>({.x = 1.5F, .steps = 9});
  EXPECT_EQ(same.x, 1.5F);
  EXPECT_EQ(same.steps, 9);
}

TEST(ArchiveVersions, OthersAreRefusedByName) {
  expect_mentions(message_of([] { passed<Second, First>({}); }), {"newer pits", "state of Thing has version 2", "1"});
  expect_mentions(message_of([] { passed<First, Third>({}); }),
                  {"older pits", "state of Thing has version 1", "reads version 2 to 3"});
  Archive none;
  Archive in = Archive::from_versions(none.with_versions());
  First thing;
  expect_mentions(message_of([&] { in(thing); }), {"holds no Thing"});
}

// FIPS 180-4's examples.
TEST(Sha256, HasThePublishedDigests) {
  const auto hex = [](const std::vector<std::string>& pieces) {
    Sha256 sha;
    for (const std::string& piece : pieces) sha.add(piece);
    return fmt::format("{:02x}", fmt::join(sha.finish(), ""));
  };
  EXPECT_EQ(hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex({"a", "bc"}), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

RC_GTEST_PROP(SavedFile, GivesBackWhatWasSealed, (const std::string& kind, const std::string& bytes)) {
  RC_ASSERT(unsealed(kind, sealed(kind, bytes), "it") == bytes);
}

TEST(SavedFile, RefusesEveryFlippedBitAndEveryTruncation) {
  const std::string file = sealed("kind", "some bytes");
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = file;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      EXPECT_THROW(unsealed("kind", flipped, "it"), Error) << "byte " << i << " bit " << bit;
    }
    EXPECT_THROW(unsealed("kind", file.substr(0, i), "it"), Error) << i;
  }
  EXPECT_THROW(unsealed("kind", file + '\0', "it"), Error);
}

TEST(SavedFile, SaysWhatIsWrong) {
  const std::string file = sealed("kind", "some bytes");
  const auto said = [](const std::string& bytes) { return message_of([&] { unsealed("kind", bytes, "'x.pits'"); }); };
  expect_mentions(said(""), {"'x.pits'", "not a file saved by pits"});
  expect_mentions(said("{\"json\": 1}"), {"not a file saved by pits"});
  expect_mentions(said(file.substr(0, 5)), {"truncated"});
  expect_mentions(said(file.substr(0, file.size() - 1)), {"truncated", std::to_string(file.size())});
  std::string damaged = file;
  damaged[file.size() - 40] ^= 1;
  expect_mentions(said(damaged), {"damaged", "checksum"});
  std::string newer = file;
  newer[8] = saved_version + 1;  // the version follows the magic's 8 bytes
  std::string older = file;
  older[8] = 1;
  expect_mentions(said(older), {"older pits", "format 1", "reads format 6"});
  expect_mentions(said(newer), {"newer pits", "format 7", "reads format 6"});
  expect_mentions(said(sealed("sample", "some bytes")), {"'sample'", "'kind'"});
}

}  // namespace
}  // namespace pits::test
