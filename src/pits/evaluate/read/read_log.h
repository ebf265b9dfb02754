// Logs of other formats and our own, as logged data.
//
//   events   a store of a live bandit (a directory), or its lines of JSON by `pits log export`
//   csv      columns action, reward, propensity; p:ACTION, allowed:ACTION and POLICY:ACTION for every action; the
//   others
//            are the context
//   jsonl    lines of {"action", "reward", "propensity" or "propensities", "allowed", "context", "policies"}
//   vw       Vowpal Wabbit's cb (ACTION:COST:PROBABILITY | features) and cb_adf (blocks of lines)
//   dsjson   Vowpal Wabbit's decision service JSON
// Rewards are minus costs in the last two. Files may be packed (gz, xz, zip).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "pits/core/enum_names.h"
#include "pits/evaluate/read/log_builder.h"

namespace pits {

class Store;

enum class LogFormat { automatic, events, csv, jsonl, vw, dsjson };
template <>
inline constexpr auto enum_names<LogFormat> = std::array{"auto", "events", "csv", "jsonl", "vw", "dsjson"};

struct LogOptions {
  LogFormat format = LogFormat::automatic;
  std::vector<std::string> actions{};         // names in order; empty: as the log has them
  std::optional<RewardRange> reward_range{};  // a reward outside of it is an Error
  std::string action = "action", reward = "reward", propensity = "propensity";  // names of columns
  std::function<void(std::size_t)> read = [](std::size_t) {};  // called with the rounds read since the last call
};

// An Error names the file and the line.
LoggedData read_log(const std::filesystem::path& path, const LogOptions& options = {});

// The formats.
LoggedData read_event_log(const std::filesystem::path& path, const LogOptions& options);
// A store that is open, wherever it is; `name` is what errors call it.
LoggedData read_event_log(const Store& store, const std::string& name, const LogOptions& options);
LoggedData read_csv_log(const std::filesystem::path& path, const LogOptions& options);
LoggedData read_jsonl_log(const std::filesystem::path& path, const LogOptions& options);
LoggedData read_vw_log(const std::filesystem::path& path, const LogOptions& options);
LoggedData read_dsjson_log(const std::filesystem::path& path, const LogOptions& options);

// Every line of the unpacked file, without its end.
void for_each_line(const std::filesystem::path& path, const std::function<void(std::string_view, const Place&)>& see);

}  // namespace pits
