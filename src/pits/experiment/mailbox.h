// Letters between the ranks of a program. Only mpi_mailbox.cpp knows MPI; tests have ranks that are threads.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace pits {

using Letter = nlohmann::ordered_json;

// Used by one thread of a rank.
class Mailbox {
 public:
  virtual ~Mailbox() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  virtual std::string place() const = 0;  // the machine's name
  virtual int default_threads() const = 0;
  virtual void send(int to, const Letter& letter) = 0;

  struct Received {
    int from;
    Letter letter;
  };
  // Does not wait. Letters of one sender come in the order of sending.
  virtual std::optional<Received> poll() = 0;
};

}  // namespace pits
