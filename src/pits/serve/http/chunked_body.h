// The body of a request in chunks (RFC 9112, section 7.1), taken from a stream of bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pits {

class ChunkedBody {
 public:
  enum class State { more, done, refused };

  // For a new body.
  void start(std::size_t most_body, std::size_t most_trailer);
  // Takes what it can from the front of `input` and appends the data to `body`. What is left of the input must come
  // again, followed by more bytes.
  State take(std::string_view& input, std::string& body);
  int status() const { return status_; }  // of a refused body: 400, 413 or 431

 private:
  enum class Part { size, data, data_end, trailer };

  State refuse(int status);
  State take_line(std::string_view& input, std::string_view& line, std::size_t most, int too_long);
  State take_size(std::string_view& input, const std::string& body);
  State take_data(std::string_view& input, std::string& body);
  State take_data_end(std::string_view& input);
  State take_trailer(std::string_view& input);

  Part part_ = Part::size;
  bool ended_ = false;  // after the trailer
  std::size_t most_body_ = 0;
  std::size_t trailer_left_ = 0;  // bytes
  std::size_t chunk_left_ = 0;    // bytes
  int status_ = 0;
};

}  // namespace pits
