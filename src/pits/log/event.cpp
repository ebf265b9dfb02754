#include "pits/log/event.h"

namespace pits {

const Decided* decision_in(const Event& event) {
  if (const auto* decided = std::get_if<Decided>(&event)) return decided;
  return std::get_if<Restored>(&event);
}

Decided* decision_in(Event& event) { return const_cast<Decided*>(decision_in(std::as_const(event))); }

bool was_erased(const Decided& decided, std::size_t context_size, bool candidates) {
  return (decided.x.empty() && context_size > 0) || (decided.features.empty() && candidates);
}

}  // namespace pits
