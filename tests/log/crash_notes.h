// What the clients of log_crash write down.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
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

// decided ID ACTION TOKEN | lost ID ACTION TOKEN (never written) | flushed | reward ID KEY ANSWER
struct Told {
  std::map<DecisionId, Action> decided;  // all
  std::map<DecisionId, std::string> tokens;
  std::map<DecisionId, Action> flushed;
  std::vector<std::tuple<DecisionId, std::string, std::string>> rewards;
};

inline void read_notes(const fs::path& file, Told& told) {
  std::ifstream in(file);
  std::map<DecisionId, Action> open;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind, key, answer, token;
    DecisionId id = 0;
    Action action = 0;
    words >> kind;
    if ((kind == "decided" || kind == "lost") && words >> id >> action >> token) {
      if (!told.decided.emplace(id, action).second) throw failed("id {} was given twice", id);
      told.tokens.emplace(id, token);
      if (kind == "decided") open.emplace(id, action);
    } else if (kind == "reward" && words >> id >> key >> answer) {
      told.rewards.emplace_back(id, key, answer);
    } else if (kind == "flushed") {
      told.flushed.merge(open);
    }
    if (kind == "start") open.clear();  // what was not flushed may be lost
  }
}

}  // namespace pits::test
