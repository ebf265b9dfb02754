// What is wrong with a JSON text, without the words of the library that read it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace pits {

// "it is not valid JSON at byte 17", or "a part is missing or of the wrong kind (key 'curve' not found)".
std::string in_own_words(const nlohmann::json::exception& error);

}  // namespace pits
