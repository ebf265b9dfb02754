// What a server asks of a bandit's books, as bytes that another server can carry out, and its answer.
#pragma once

#include "pits/log/live_calls.h"

namespace pits {

enum class CallKind : std::uint8_t { decided, reward, activate, cancel, add_actions, retire, config, gap };

struct Call {
  CallKind kind = CallKind::reward;
  bool waits = true;              // somebody, for the answer
  std::vector<Reward> rewards{};  // activate, cancel: the id and the record of the first
  std::shared_ptr<const Decided> decided{};
  std::vector<std::string> actions{};  // to be added
  std::uint64_t number = 0;            // action to be retired; decisions of a gap
  TextFields config{};

  void state(Archive& archive);
};

struct CallAnswer {
  std::vector<Answer> answers{};
  std::shared_ptr<const Decided> decided{};  // the earlier decision with the same key, where there was one
  std::uint64_t number = 0;                  // first action that was added
  std::string refusal{};                     // why it is bad input; empty: it is not
  std::string failure{};                     // why it was not carried out, though it may be right; empty: it was

  void state(Archive& archive);
};

// A decision that is named is not in the log yet, and may be on its way from another server; or the answer has to wait
// for the group that is being written.
class NotYet : public Error {
 public:
  NotYet() : Error(ErrorKind::input, "the decision is not in the log yet") {}
};

// Carries out a call. Bad input is an answer. Throws NotYet, with nothing done, unless `patient` is false.
CallAnswer perform(Ledger& ledger, Decider& decider, const Call& call, bool patient);

template <class T>
T from_bytes(std::string bytes) {
  Archive archive(std::move(bytes));
  T value;
  archive(value);
  archive.finish();
  return value;
}

// Calls and answers in the database, behind the version of their lists of fields: servers of two versions may share
// it for a while.
constexpr std::uint32_t call_version = 1;

template <class T>
std::string packed(T value) {
  Archive archive;
  std::uint32_t version = call_version;
  archive(version, value);
  return archive.bytes();
}
// Throws an Error of kind failed: who has sent it is not to blame.
template <class T>
T unpacked(std::string bytes) {
  std::uint32_t version = 0;
  T value;
  try {
    Archive archive(std::move(bytes));
    archive(version);
    if (version == call_version) {
      archive(value);
      archive.finish();
    }
  } catch (const Error& e) {
    throw failed("its bytes cannot be read: {}", e.what());
  }
  if (version != call_version) {
    throw failed("its bytes have version {}; this pits reads version {}", version, call_version);
  }
  return value;
}

}  // namespace pits
