// Messages between the ranks of a program. Only mpi_channel.cpp knows MPI; tests have ranks that are threads.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace pits {

using Message = nlohmann::ordered_json;

// Used by one thread of a rank.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  virtual std::string host() const = 0;
  virtual int default_threads() const = 0;
  virtual void send(int to, const Message& message) = 0;

  struct Received {
    int from;
    Message message;
  };
  // Does not wait. Messages of one sender come in the order of sending.
  virtual std::optional<Received> poll() = 0;
};

}  // namespace pits
