// Compares the versions of a bandit's model that a fleet has published with a replay of its log from the first event.
//
//   fleet_replay URL BANDIT FILE
//
// FILE has a line per version: its number, and the SHA-256 of its bytes in hexadecimal. Exits with 1 where one differs.
#include <fmt/format.h>

#include <fstream>
#include <map>

#include "pits/core/io/sha256.h"
#include "pits/fleet/lone_lease.h"
#include "pits/log/learner.h"
#include "pits/log/simd_pin.h"

namespace pits {
namespace {

std::string sha256_of(const std::string& bytes) {
  Sha256 sha;
  sha.add(bytes);
  std::string text;
  for (const auto byte : sha.finish()) text += fmt::format("{:02x}", byte);
  return text;
}

int compare(const std::string& url, const std::string& bandit, const std::string& file) {
  const auto store = read_log(url, bandit);
  std::map<EventNumber, std::string> versions;
  std::ifstream in(file);
  EventNumber number = 0;
  for (std::string sha; in >> number >> sha;) {
    if (!versions.emplace(number, sha).second && versions[number] != sha) {
      throw failed("version {} was published with two contents", number);
    }
  }
  const SimdPin pin(newest_engine(*store));
  Learner learner(*store);
  for (const auto& [at, sha] : versions) {
    learner.follow(at);
    if (learner.number() != at) throw failed("the log ends before version {}", at);
    if (sha256_of(learner.bandit().saved_policy()) != sha) throw failed("version {} is not what its events give", at);
  }
  fmt::print("{} versions are the replay of their events, the last of {}\n", versions.size(), learner.number());
  return 0;
}

}  // namespace
}  // namespace pits

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw pits::bad_usage("fleet_replay URL BANDIT FILE");
    return pits::compare(argv[1], argv[2], argv[3]);
  } catch (const std::exception& e) {
    fmt::print("fleet_replay: {}\n", e.what());
    return 1;
  }
}
