#include "pits/experiment/json_words.h"

#include <fmt/format.h>

namespace pits {

std::string in_own_words(const nlohmann::json::exception& error) {
  if (const auto* unread = dynamic_cast<const nlohmann::json::parse_error*>(&error)) {
    return fmt::format("it is not valid JSON at byte {}", unread->byte);
  }
  const std::string text = error.what();  // "[json.exception.out_of_range.403] key 'curve' not found"
  const std::size_t end = text.find("] ");
  return fmt::format("a part is missing or of the wrong kind ({})",
                     end == std::string::npos ? text : text.substr(end + 2));
}

}  // namespace pits
