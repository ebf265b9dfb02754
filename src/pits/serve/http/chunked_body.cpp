#include "pits/serve/http/chunked_body.h"

#include <algorithm>
#include <charconv>

namespace pits {
namespace {

constexpr std::size_t most_size_line = 256;  // the size and its extensions, which are ignored

bool is_control(char c) {
  const auto u = static_cast<unsigned char>(c);
  return (u < 0x20 && u != '\t') || u == 0x7f;
}

}  // namespace

void ChunkedBody::start(std::size_t most_body, std::size_t most_trailer) {
  *this = {};
  most_body_ = most_body;
  trailer_left_ = most_trailer;
}

ChunkedBody::State ChunkedBody::refuse(int status) {
  status_ = status;
  return State::refused;
}

ChunkedBody::State ChunkedBody::take(std::string_view& input, std::string& body) {
  State state = State::done;
  while (state == State::done && !ended_) {
    switch (part_) {
      case Part::size: state = take_size(input, body); break;
      case Part::data: state = take_data(input, body); break;
      case Part::data_end: state = take_data_end(input); break;
      case Part::trailer: state = take_trailer(input); break;
    }
  }
  return state;
}

// One line without its CRLF. Longer than `most` with it: refused with `too_long`.
ChunkedBody::State ChunkedBody::take_line(std::string_view& input, std::string_view& line, std::size_t most,
                                          int too_long) {
  const std::size_t end = input.substr(0, most).find('\n');
  if (end == input.npos) return input.size() >= most ? refuse(too_long) : State::more;
  if (end == 0 || input[end - 1] != '\r') return refuse(400);
  line = input.substr(0, end - 1);
  if (std::any_of(line.begin(), line.end(), is_control)) return refuse(400);
  input.remove_prefix(end + 1);
  return State::done;
}

// chunk-size [ chunk-ext ] CRLF
ChunkedBody::State ChunkedBody::take_size(std::string_view& input, const std::string& body) {
  std::string_view line;
  if (const State state = take_line(input, line, most_size_line, 400); state != State::done) return state;
  const char* const end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data(), end, chunk_left_, 16);
  if (error == std::errc::result_out_of_range) return refuse(413);
  if (error != std::errc{}) return refuse(400);
  const std::size_t extension = line.substr(static_cast<std::size_t>(stop - line.data())).find_first_not_of(" \t");
  if (stop != end && (extension == line.npos || stop[extension] != ';')) return refuse(400);
  if (chunk_left_ > most_body_ - body.size()) return refuse(413);
  part_ = chunk_left_ == 0 ? Part::trailer : Part::data;
  return State::done;
}

ChunkedBody::State ChunkedBody::take_data(std::string_view& input, std::string& body) {
  const std::size_t n = std::min(chunk_left_, input.size());
  body.append(input.substr(0, n));
  input.remove_prefix(n);
  chunk_left_ -= n;
  if (chunk_left_ > 0) return State::more;
  part_ = Part::data_end;
  return State::done;
}

ChunkedBody::State ChunkedBody::take_data_end(std::string_view& input) {
  constexpr std::string_view end = "\r\n";
  if (input.substr(0, 2) != end.substr(0, input.size())) return refuse(400);
  if (input.size() < end.size()) return State::more;
  input.remove_prefix(end.size());
  part_ = Part::size;
  return State::done;
}

// Fields after the last chunk, up to an empty line: they are read and ignored.
ChunkedBody::State ChunkedBody::take_trailer(std::string_view& input) {
  std::string_view line;
  if (const State state = take_line(input, line, trailer_left_, 431); state != State::done) return state;
  trailer_left_ -= line.size() + 2;
  if (!line.empty() && (line.front() == ' ' || line.front() == '\t')) return refuse(400);
  ended_ = line.empty();
  return State::done;
}

}  // namespace pits
