#include "pits/evaluate/read/read_log.h"

#include "pits/data/read/bytes.h"

namespace pits {
namespace {

constexpr std::size_t longest_line = 64U << 20U;

bool ends_with_any(std::string name, std::initializer_list<std::string_view> ends) {
  for (const std::string_view packed : {".gz", ".xz", ".zip"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

struct FirstLine {
  std::string text;
};

// By the name, and where it says only JSON, by the first line.
LogFormat find_format(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return LogFormat::events;
  const std::string name = path.filename().string();
  if (ends_with_any(name, {".csv", ".tsv"})) return LogFormat::csv;
  if (ends_with_any(name, {".vw", ".dat", ".cb", ".adf"})) return LogFormat::vw;
  if (ends_with_any(name, {".dsjson"})) return LogFormat::dsjson;
  std::string first;
  try {
    for_each_line(path, [&](std::string_view line, const Place&) {
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
      throw FirstLine{std::string(line)};
    });
  } catch (const FirstLine& line) {
    first = line.text;
  }
  if (first.empty()) throw bad_input("'{}' is empty", path.string());
  if (first.front() == '{') {
    if (first.find("\"event\":\"created\"") != std::string::npos) return LogFormat::events;
    return first.find("\"_label") != std::string::npos ? LogFormat::dsjson : LogFormat::jsonl;
  }
  if (first.find('|') != std::string::npos) return LogFormat::vw;
  if (first.find(',') != std::string::npos) return LogFormat::csv;
  throw bad_input("'{}': cannot tell the format of this log; say it: events, csv, jsonl, vw or dsjson", path.string());
}

}  // namespace

void for_each_line(const std::filesystem::path& path, const std::function<void(std::string_view, const Place&)>& see) {
  const std::string file = path.string();
  std::string rest;
  std::size_t count = 0;
  const auto hand_on = [&](std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    see(line, {.file = file, .line = ++count});
  };
  read_unpacked(path, [&](std::string_view piece) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      if (end == std::string_view::npos) {
        rest += piece;
        if (rest.size() > longest_line) throw Place{file, count + 1}.wrong("the line is longer than 64 MiB");
        return;
      }
      if (rest.empty()) {
        hand_on(piece.substr(0, end));
      } else {
        rest += piece.substr(0, end);
        hand_on(rest);
        rest.clear();
      }
      piece.remove_prefix(end + 1);
    }
  });
  if (!rest.empty()) hand_on(rest);
}

LoggedData read_log(const std::filesystem::path& path, const LogOptions& options) {
  if (!std::filesystem::exists(path)) throw bad_input("there is no log '{}'", path.string());
  switch (options.format == LogFormat::automatic ? find_format(path) : options.format) {
    case LogFormat::csv: return read_csv_log(path, options);
    case LogFormat::jsonl: return read_jsonl_log(path, options);
    case LogFormat::vw: return read_vw_log(path, options);
    case LogFormat::dsjson: return read_dsjson_log(path, options);
    default: return read_event_log(path, options);
  }
}

}  // namespace pits
