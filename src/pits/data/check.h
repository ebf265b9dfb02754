// Is a data file what the catalogue says?
#pragma once

#include "pits/core/matrix.h"
#include "pits/data/catalogue.h"

namespace pits {

// The ratings in any order of users and jokes: 19181 x 40, none missing, from -10 to 10 in steps of 0.01, with the mean
// and standard deviation of the showdown's file. Anything else is an Error that names `where` they were read.
void check_jester(std::string_view where, ConstMatrixView<double> ratings);

// Reads the unpacked file through `sink` and verifies its content, and its shape where that is what counts. Errors name
// `where` the file is from.
Content check_content(const DataFile& file, const std::filesystem::path& path, std::string_view where,
                      const std::function<void(std::string_view)>& sink);

}  // namespace pits
