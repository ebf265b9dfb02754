// What a sampling shows: a table on the terminal and a page with the particles over the density's contours.
#pragma once

#include <string>

#include "pits/target/sampling.h"

namespace pits {

std::string sample_table(const SampleConfig& config, const SampleResult& result);
std::string sample_json_lines(const SampleConfig& config, const SampleResult& result);
std::string sample_page(const SampleConfig& config, const SampleResult& result, const std::string& command);
// The frames as an animated SVG, with a light and a dark look.
std::string sample_animation(const SampleConfig& config, const SampleResult& result);

}  // namespace pits
