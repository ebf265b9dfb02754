#include "pits/data/read/bytes.h"

#include <gtest/gtest.h>

#include "data/packed.h"
#include "experiment/expect_error.h"

namespace pits {
namespace {

using test::from_hex;

struct Unpacked {
  std::string text;
  Digest digest;
};

Unpacked unpack(std::string_view content) {
  const test::Scratch scratch;
  test::write_bytes(scratch / "file", content);
  Unpacked result;
  result.digest = read_unpacked(scratch / "file", [&](std::string_view piece) { result.text += piece; });
  return result;
}

std::string refusal(std::string_view content) {
  std::string message = test::message_of([&] { unpack(content); });
  test::expect_mentions(message, {"file'"});
  return message;
}

TEST(Bytes, PlainAndPackedGiveTheSameContent) {
  for (const std::string& packed : {std::string("abc"), from_hex(test::abc_gz), from_hex(test::abc_xz),
                                    from_hex(test::abc_zip), from_hex(test::abc_Z)}) {
    const Unpacked got = unpack(packed);
    EXPECT_EQ(got.text, "abc");
    EXPECT_EQ(got.digest.bytes, 3U);
    EXPECT_EQ(got.digest.sha256, test::abc_sha256);
  }
}

// The SHA-256 of the empty message and of a million times 'a' are FIPS 180's.
TEST(Bytes, EmptyAndLongFiles) {
  EXPECT_EQ(unpack("").digest.sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const Unpacked million = unpack(std::string(1'000'000, 'a'));
  EXPECT_EQ(million.digest.bytes, 1'000'000U);
  EXPECT_EQ(million.digest.sha256, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Cut within the packed text, which ends at byte 15 of the gz and byte 40 of the zip.
TEST(Bytes, TruncatedPacksAreErrors) {
  for (const auto& [hex, size] : {std::pair{test::abc_gz, 13}, {test::abc_xz, 30}, {test::abc_zip, 37}}) {
    refusal(from_hex(hex).substr(0, static_cast<std::size_t>(size)));
  }
}

// Byte 12 of the xz header is inside its own checksum, byte 37 of the zip inside the deflated text.
TEST(Bytes, CorruptPacksAreErrors) {
  for (const auto& [hex, at] : {std::pair{test::abc_xz, 12}, std::pair{test::abc_zip, 37}}) {
    std::string bytes = from_hex(hex);
    bytes.at(static_cast<std::size_t>(at)) ^= 0x10;
    refusal(bytes);
  }
}

TEST(Bytes, AZipMustHoldOneFile) {
  test::expect_mentions(refusal(from_hex(test::two_files_zip)), {"more than one file"});
}

TEST(Bytes, MissingFilesAndDirectoriesAreErrors) {
  const test::Scratch scratch;
  const auto nothing = [](std::string_view) {};
  test::expect_mentions(test::message_of([&] { read_unpacked(scratch / "none", nothing); }), {"none", "no such file"});
  test::expect_mentions(test::message_of([&] { read_unpacked(scratch.path(), nothing); }), {"is a directory"});
}

}  // namespace
}  // namespace pits
