#include "pits/report/page.h"

#include "pits/core/error.h"

namespace pits {

std::string render_page(const nlohmann::ordered_json& data) {
  constexpr std::string_view marker = "__PITS_DATA__";
  const std::string_view page = page_template();
  const std::size_t at = page.find(marker);
  if (at == std::string_view::npos) throw failed("the page template has no place for its data");
  std::string html(page.substr(0, at));
  using Json = nlohmann::ordered_json;
  const std::string json = data.dump(-1, ' ', false, Json::error_handler_t::replace);  // a command need not be UTF-8
  for (const char c : json) {  // "</script>" in a label must not end the script element
    if (c == '<') {
      html += "\\u003c";
    } else {
      html += c;
    }
  }
  html += page.substr(at + marker.size());
  return html;
}

}  // namespace pits
