// A schema (the first line) and a context for it (the rest).
#include "pits/schema/schema.h"

#include <cmath>

#include "fuzz/target.h"

namespace pits::fuzz {

bool reads(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  try {
    const Schema schema(bytes.substr(0, end));
    const Schema same(schema.text());
    if (same.text() != schema.text() || same.columns() != schema.columns()) {
      throw std::logic_error("the text of a schema is another schema");
    }
    if (schema.columns().size() != schema.width()) throw std::logic_error("a column has no name");
    const std::string_view context = bytes.substr(std::min(end + 1, bytes.size()));
    const std::vector<float> x = schema.encode(context);
    for (const float value : x) {
      if (!std::isfinite(value)) throw std::logic_error("a vector is not finite");
    }
    if (same.encode(context) != x) throw std::logic_error("equal schemas give different vectors");
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace pits::fuzz
