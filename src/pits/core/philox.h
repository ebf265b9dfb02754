// The one mapping from an address to Philox's key and counter, for the CPU and the GPU. Kept apart from random.h so
// that users of the library need no Random123.
#pragma once

#include <Random123/philox.h>

#include "pits/core/host_device.h"
#include "pits/core/random.h"

namespace pits {

// Words 4·block .. 4·block+3 of the stream at an address.
PITS_HOST_DEVICE inline r123::Philox4x32::ctr_type philox_words(const Address& address, std::uint32_t block) {
  const r123::Philox4x32::key_type key = {
      {static_cast<std::uint32_t>(address.seed), static_cast<std::uint32_t>(address.seed >> 32)}};
  const r123::Philox4x32::ctr_type counter = {
      {block, address.step, address.realization, static_cast<std::uint32_t>(address.purpose)}};
  return r123::Philox4x32()(counter, key);
}

}  // namespace pits
