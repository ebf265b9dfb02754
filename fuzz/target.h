// One reader under test. csv.cpp, words.cpp, npy.cpp, schema.cpp, zone.cpp, http.cpp, requests.cpp, token.cpp, events.cpp and saved.cpp each define
// `reads`; libfuzzer.cpp and driver_test.cpp call it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "pits/core/error.h"

namespace pits::fuzz {

// True: the bytes were read. False: they were refused with an Error. Anything else is a finding and throws.
bool reads(std::string_view bytes);

// What `read(piece_size)` makes of the bytes when it gets them in pieces of that size: a text, or the Error's message.
struct Outcome {
  bool read = false;
  std::string text;

  bool operator==(const Outcome&) const = default;
};

template <class Read>
Outcome outcome_of(Read&& read) {
  try {
    return {true, read()};
  } catch (const Error& e) {
    return {false, e.what()};
  }
}

// A reader must not notice where one piece ends and the next begins.
template <class Read>
bool reads_in_any_pieces(std::string_view bytes, Read&& read) {
  const Outcome whole = outcome_of([&] { return read(bytes.size() + 1); });
  for (const std::size_t piece : {1, 2, 3, 7, 64}) {
    const Outcome other = outcome_of([&] { return read(piece); });
    if (other != whole) {
      throw std::logic_error(fmt::format("in pieces of {}: {}\nas a whole: {}", piece, other.text, whole.text));
    }
  }
  return whole.read;
}

template <class Reader>
void feed(Reader& reader, std::string_view bytes, std::size_t piece) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) reader.feed(bytes.substr(0, piece));
}

}  // namespace pits::fuzz
