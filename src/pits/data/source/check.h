// Reading a data file and checking that it is what the catalogue says.
#pragma once

#include <filesystem>
#include <functional>

#include "pits/data/catalogue.h"

namespace pits {

// Jester's ratings in any order of users and jokes: 19181 x 40, none missing, from -10 to 10 in steps of 0.01, with the
// mean and standard deviation of the showdown's file.
void check_jester(std::string_view where, ConstMatrixView<double> ratings);

// The most bytes that are read for a file, packed or not: the largest accepted content and 1 MiB for headers.
std::uint64_t most_bytes(const DataFile& file);

// Reads the unpacked file through `sink` and returns which of the accepted contents it is (the digest alone where only
// `file.check` accepts it). Anything else is an Error that names `where` the file is from. A damaged file is reported
// as damaged also where `sink` meets the damage first and throws an Error.
Content read_data_file(const DataFile& file, const std::filesystem::path& path, std::string_view where,
                       const std::function<void(std::string_view)>& sink);

}  // namespace pits
