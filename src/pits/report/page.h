// One self-contained HTML page: the template of web/, built into the binary, with the data filled in.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace pits {

std::string_view page_template();
// `data` follows the contract in web/README.md. NaN becomes null.
std::string render_page(const nlohmann::ordered_json& data);

}  // namespace pits
