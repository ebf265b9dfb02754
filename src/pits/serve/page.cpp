#include "pits/serve/page.h"

namespace pits {

std::string_view service_page() { return "<html></html>"; }

}  // namespace pits
