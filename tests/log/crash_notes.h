// What the clients of log_crash write down, and how far they have come.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <tuple>

#include "pits/log/event.h"

namespace pits::test {

namespace fs = std::filesystem;

inline fs::path notes_of(const fs::path& directory, int client) {
  return directory / ("client-" + std::to_string(client));
}

// What a client was told, one line each: what the kernel has got survives the kill.
class Notes {
 public:
  explicit Notes(const fs::path& file) : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {}
  ~Notes() { ::close(file_); }
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

  template <class... Parts>
  void add(const Parts&... parts) {
    std::ostringstream line;
    ((line << parts << ' '), ...);
    line << '\n';
    const std::string text = line.str();
    if (::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  }

 private:
  int file_;
};

// What a token carries, in letters.
inline std::string letters_of(Restored record) {
  Archive archive;
  record.visit([&](std::string_view, auto& field) { archive(field); });
  std::string text;
  for (const char byte : archive.bytes()) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

inline std::shared_ptr<const Restored> record_in(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  auto record = std::make_shared<Restored>();
  Archive archive(bytes);
  record->visit([&](std::string_view, auto& field) { archive(field); });
  archive.finish();
  return record;
}

// decided ID ACTION TOKEN | lost ID ACTION TOKEN (never written) | flushed | reward ID KEY ANSWER | cancelling ID |
// cancel ID ANSWER | adding NAME | added NAME ACTION
struct Told {
  std::map<DecisionId, Action> decided;  // all
  std::map<DecisionId, Action> flushed;
  std::vector<std::tuple<DecisionId, std::string, std::string>> rewards;
  std::vector<std::pair<DecisionId, std::string>> cancels;
  std::set<DecisionId> cancelling;
  std::map<std::string, Action> added;
  std::set<std::string> adding;
};

// The notes of one client, read on from where the last reading ended.
class NoteReader {
 public:
  explicit NoteReader(const fs::path& file) : file_(file) {}

  void read(Told& told) {
    std::ifstream in(file_);
    in.seekg(position_);
    for (std::string line; std::getline(in, line) && !in.eof();) {
      position_ = in.tellg();
      see(line, told);
    }
  }

 private:
  void see(const std::string& line, Told& told) {
    std::istringstream words(line);
    std::string kind, key, answer;
    DecisionId id = 0;
    Action action = 0;
    words >> kind;
    if ((kind == "decided" || kind == "lost") && words >> id >> action) {
      if (!told.decided.emplace(id, action).second) throw failed("id {} was given twice", id);
      if (kind == "decided") open_.emplace(id, action);
    } else if (kind == "reward" && words >> id >> key >> answer) {
      told.rewards.emplace_back(id, key, answer);
    } else if (kind == "cancelling" && words >> id) {
      told.cancelling.insert(id);
    } else if (kind == "cancel" && words >> id >> answer) {
      told.cancels.emplace_back(id, answer);
    } else if (kind == "adding" && words >> key) {
      told.adding.insert(key);
    } else if (kind == "added" && words >> key >> action) {
      told.added.emplace(key, action);
    } else if (kind == "flushed") {
      told.flushed.merge(open_);
    }
    if (kind == "start") open_.clear();  // what was not flushed may be lost
  }

  fs::path file_;
  std::streampos position_ = 0;
  std::map<DecisionId, Action> open_;
};

// The tokens of a client's last decisions.
inline std::map<DecisionId, std::string> last_tokens(const fs::path& file, std::size_t most) {
  constexpr std::uintmax_t tail = 100'000;  // bytes
  std::ifstream in(file);
  std::string line;
  if (in && fs::file_size(file) > tail) {
    in.seekg(-static_cast<std::streamoff>(tail), std::ios::end);
    std::getline(in, line);  // the end of some line
  }
  std::map<DecisionId, std::string> tokens;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string kind, token;
    DecisionId id = 0;
    Action action = 0;
    if (words >> kind >> id >> action >> token && (kind == "decided" || kind == "lost")) tokens.emplace(id, token);
  }
  while (tokens.size() > most) tokens.erase(tokens.begin());
  return tokens;
}

// Rewards that the running service has answered; the process that kills it sees them.
inline std::atomic<unsigned>& answered() {
  static auto* const shared = [] {
    void* page =
        ::mmap(nullptr, sizeof(std::atomic<unsigned>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw failed("there is no memory to share");
    return new (page) std::atomic<unsigned>(0);
  }();
  return *shared;
}

// Waits until they are so many; false where that does not happen.
inline bool wait_for_answers(unsigned count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (answered() < count && std::chrono::steady_clock::now() < end) ::usleep(200);
  return answered() >= count;
}

}  // namespace pits::test
