// Anybody's CSV file as a table: which column is what, and what counts as missing.
#pragma once

#include <memory>

#include "pits/core/fields.h"
#include "pits/data/table.h"

namespace pits {

enum class Header { automatic, yes, no };
enum class Missing { level, reject };  // a level of its own in a categorical column, or an Error anywhere
enum class Delimiter { automatic, comma, semicolon, tab };
template <>
struct EnumNames<Header> {
  static const std::vector<std::string>& names();
};
template <>
struct EnumNames<Missing> {
  static const std::vector<std::string>& names();
};
template <>
struct EnumNames<Delimiter> {
  static const std::vector<std::string>& names();
};

// Columns are named as in the header or by their number from 1; several are joined by +.
struct CsvTableConfig {
  std::string file{};
  std::string categorical = "auto";  // auto: those that hold anything but numbers; none; or names
  std::string drop = "none";         // or names
  Missing missing = Missing::level;
  Header header = Header::automatic;
  Delimiter delimiter = Delimiter::automatic;
};
Fields fields(CsvTableConfig& config);

// With the classes of the column `label`; they must be 2 to 1000. While a table is in use, whoever asks for the same
// one gets it as it was read, whatever has become of the file.
std::shared_ptr<const Table> labelled_csv_table(const CsvTableConfig& config, const std::string& label);

// With rewards: the last `actions` columns, or those named reward_* where it is 0.
std::shared_ptr<const Table> rewards_csv_table(const CsvTableConfig& config, std::size_t actions);

}  // namespace pits
