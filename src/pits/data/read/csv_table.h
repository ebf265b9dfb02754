// A CSV file of the user's as a table: which column is what, and what counts as missing.
#pragma once

#include <memory>

#include "pits/core/fields.h"
#include "pits/data/table.h"

namespace pits {

enum class Header { automatic, yes, no };
template <>
inline constexpr auto enum_names<Header> = std::array{"auto", "yes", "no"};
enum class Missing { level, reject };  // a level of its own in a categorical column, or an Error anywhere
template <>
inline constexpr auto enum_names<Missing> = std::array{"level", "reject"};
enum class Delimiter { automatic, comma, semicolon, tab };
template <>
inline constexpr auto enum_names<Delimiter> = std::array{"auto", "comma", "semicolon", "tab"};

// Columns are named as in the header or by their number from 1; several are joined by +.
struct CsvTableConfig {
  std::string file{};
  std::string categorical = "auto";  // auto: those that do not hold numbers; auto+names; none; or names
  std::string drop = "none";         // or names
  Missing missing = Missing::level;
  Header header = Header::automatic;
  Delimiter delimiter = Delimiter::automatic;
};
Fields fields(CsvTableConfig& config);

// With the classes of the column `label`; they must be 2 to 1000. A column that is a category by itself must not be
// mostly numbers: one odd field would turn it into hundreds of one-hot columns. The table's remark names the one-hot
// columns. The same content gives the same table, shared by everybody who holds it.
std::shared_ptr<const Table> labelled_csv_table(const CsvTableConfig& config, const std::string& label);

// With rewards: the last `actions` columns, or those named reward_* where it is 0.
std::shared_ptr<const Table> rewards_csv_table(const CsvTableConfig& config, std::size_t actions);

}  // namespace pits
