#include <algorithm>
#include <map>

#include "pits/data/read/bytes.h"
#include "pits/data/read/csv.h"
#include "pits/evaluate/read/read_log.h"

namespace pits {
namespace {

constexpr std::size_t rounds_between_calls = 4096;

// What the columns are, from the header.
class Columns {
 public:
  Columns(std::span<const std::string_view> header, const LogOptions& options, const Place& place)
      : actions_(options.actions) {
    for (std::size_t i = 0; i < header.size(); ++i) names_.emplace_back(header[i]);
    for (std::size_t i = 0; i < names_.size(); ++i) add(i, options, place);
    action_ = required(options.action, "the logged action", place);
    reward_ = required(options.reward, "its reward", place);
    if (!propensity_ && !lists_.contains("p")) {
      throw place.wrong(
          "no propensities: there must be a column '{}' with the probability of the logged action, or "
          "columns p:ACTION with those of all actions",
          options.propensity);
    }
    for (const auto& [list, columns] : lists_) {
      if (columns.size() == actions_.size()) continue;
      throw place.wrong("columns '{}:ACTION' are there for {} of {} actions", list, columns.size(), actions_.size());
    }
  }

  const std::vector<std::string>& actions() const { return actions_; }
  std::vector<std::string> context_names() const {
    std::vector<std::string> names;
    for (const std::size_t i : context_) names.push_back(names_[i]);
    return names;
  }
  std::vector<std::string> policies() const {
    std::vector<std::string> names;
    for (const auto& [list, columns] : lists_) {
      if (list != "p" && list != "allowed") names.push_back(list);
    }
    return names;
  }

  RoundRow row(std::span<const std::string_view> fields, LogBuilder& builder, const Place& place) const {
    RoundRow row;
    row.action = builder.action(fields[action_], place);
    row.reward = number(fields, reward_, place);
    if (propensity_) row.propensity = number(fields, *propensity_, place);
    row.x.reserve(context_.size());
    for (const std::size_t i : context_) row.x.push_back(static_cast<float>(number(fields, i, place)));
    for (const auto& [list, columns] : lists_) {
      std::vector<double> values(actions_.size());
      for (const auto& [action, column] : columns) values[action] = number(fields, column, place);
      if (list == "p") {
        row.propensities = std::move(values);
      } else if (list == "allowed") {
        for (const double v : values) row.allowed.push_back(v != 0.0 ? 1 : 0);
      } else {
        row.policies.push_back(std::move(values));
      }
    }
    return row;
  }

 private:
  void add(std::size_t i, const LogOptions& options, const Place& place) {
    const std::string& name = names_[i];
    if (std::ranges::count(names_, name) > 1) throw place.wrong("two columns have the name '{}'", name);
    if (name == options.action || name == options.reward) return;
    if (name == options.propensity) {
      propensity_ = i;
      return;
    }
    const std::size_t colon = name.find(':');
    if (colon == std::string::npos) {
      context_.push_back(i);
      return;
    }
    const std::string action = name.substr(colon + 1);
    auto found = std::ranges::find(actions_, action);
    if (found == actions_.end()) {
      if (!options.actions.empty()) throw place.wrong("{}", unknown_name("action", action, actions_).what());
      found = actions_.insert(actions_.end(), action);
    }
    lists_[name.substr(0, colon)][static_cast<Action>(found - actions_.begin())] = i;
  }

  std::size_t required(const std::string& name, std::string_view what, const Place& place) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) {
      throw place.wrong("no column '{}' with {}; the columns are {}", name, what, fmt::join(names_, ", "));
    }
    return static_cast<std::size_t>(found - names_.begin());
  }

  double number(std::span<const std::string_view> fields, std::size_t i, const Place& place) const {
    double value = 0.0;
    if (read_number(fields[i], value)) return value;
    if (fields[i].empty()) throw place.wrong("column '{}' is empty", names_[i]);
    throw place.wrong("column '{}' must be a finite number, not {}", names_[i], in_quotes(fields[i]));
  }

  std::vector<std::string> names_, actions_;
  std::size_t action_ = 0, reward_ = 0;
  std::optional<std::size_t> propensity_;
  std::vector<std::size_t> context_;
  std::map<std::string, std::map<Action, std::size_t>> lists_;  // p, allowed, policies: columns of actions
};

}  // namespace

LoggedData read_csv_log(const std::filesystem::path& path, const LogOptions& options) {
  std::optional<Columns> columns;
  std::optional<LogBuilder> builder;
  std::size_t count = 0;
  const std::string file = path.string();
  CsvReader reader(file, {.delimiter = file.find(".tsv") == std::string::npos ? ',' : '\t'},
                   [&](std::span<const std::string_view> fields, const Place& place) {
                     if (!columns) {
                       columns.emplace(fields, options, place);
                       builder.emplace(columns->actions(), options.reward_range);
                       builder->set_policies(columns->policies());
                       builder->set_context_names(columns->context_names());
                       return;
                     }
                     builder->add(columns->row(fields, *builder, place), place);
                     if (++count % rounds_between_calls == 0) options.read(rounds_between_calls);
                   });
  read_unpacked(path, [&](std::string_view piece) { reader.feed(piece); });
  reader.finish();
  if (!builder) throw bad_input("'{}' is empty", file);
  return builder->finish(file);
}

}  // namespace pits
