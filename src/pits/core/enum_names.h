// The names of an enumeration's values 0, 1, ... in texts and files, declared right under the enumeration:
//
//   enum class Taste { sweet, sour };
//   template <>
//   inline constexpr auto enum_names<Taste> = std::array{"sweet", "sour"};
#pragma once

#include <array>

namespace pits {

template <class E>
inline constexpr std::array<const char*, 0> enum_names{};

}  // namespace pits
