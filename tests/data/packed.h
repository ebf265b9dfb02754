// Small packed files, made by other programs than libarchive.
#pragma once

#include <string>
#include <string_view>

#include "experiment/scratch.h"

namespace pits::test {

inline std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// "abc", whose SHA-256 is FIPS 180's first example.
inline constexpr std::string_view abc_sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
inline constexpr std::string_view abc_gz = "1f8b08000000000002034b4c4a0600c241243503000000";
inline constexpr std::string_view abc_xz =
    "fd377a585a000004e6d6b4460200210116000000742fe5a301000261626300002776271a4a09d82c00011b030b2fb9101fb6f37d01000000"
    "0004595a";
inline constexpr std::string_view abc_zip =
    "504b030414000000080000002100c2412435050000000300000005000000612e7478744b4c4a0600504b01021403140000000800000021"
    "00c24124350500000003000000050000000000000000000000800100000000612e747874504b0506000000000100010033000000280000"
    "000000";
// Three 9-bit LZW codes, 0x61 | 0x62 << 9 | 0x63 << 18, behind the header: compress(1)'s format by hand.
inline constexpr std::string_view abc_Z = "1f9d9061c48c01";
inline constexpr std::string_view two_files_zip =
    "504b030414000000080000002100c2412435050000000300000005000000612e7478744b4c4a0600504b0304140000000800000021"
    "00c2412435050000000300000005000000622e7478744b4c4a0600504b0102140314000000080000002100c24124350500000003000000"
    "050000000000000000000000800100000000612e747874504b0102140314000000080000002100c2412435050000000300000005000000"
    "0000000000000000800128000000622e747874504b0506000000000200020066000000500000000000";

}  // namespace pits::test
