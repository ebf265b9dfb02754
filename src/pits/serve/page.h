// The page for people: one HTML file of web/, built into the binary. It asks the service that it came from for its
// numbers (web/README.md), and its own Content-Security-Policy allows nothing else.
#pragma once

#include <string_view>

namespace pits {

std::string_view service_page();

}  // namespace pits
