// The page of the service for people: one HTML file.
#pragma once

#include <string_view>

namespace pits {

std::string_view service_page();

}  // namespace pits
