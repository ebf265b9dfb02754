// libFuzzer's way in.
#include <cstddef>
#include <cstdint>

#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pits::fuzz::reads({reinterpret_cast<const char*>(data), size});
  return 0;
}
