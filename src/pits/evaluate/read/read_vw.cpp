#include <algorithm>
#include <cmath>

#include "pits/evaluate/read/read_log.h"
#include "pits/evaluate/read/sparse_rows.h"

namespace pits {
namespace {

constexpr int most_actions = 1'000'000;

// ACTION[:COST:PROBABILITY]
struct Label {
  std::size_t action = 0;
  std::optional<double> cost{}, probability{};
};

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t from = text.find_first_not_of(separators);
    if (from == std::string_view::npos) break;
    const std::size_t to = std::min(text.find_first_of(separators, from), text.size());
    words.push_back(text.substr(from, to - from));
    text.remove_prefix(to);
  }
  return words;
}

double number(std::string_view text, std::string_view what, const Place& place) {
  double value = 0.0;
  if (!read_number(text, value)) throw place.wrong("{} must be a finite number, not {}", what, in_quotes(text));
  return value;
}

Label label_of(std::string_view word, const Place& place) {
  const std::vector<std::string_view> parts = split(word, ":");
  if (parts.size() == 2) throw place.wrong("the label {} has no probability: ACTION:COST:PROBABILITY", in_quotes(word));
  if (parts.empty() || parts.size() > 3) throw place.wrong("not a label ACTION:COST:PROBABILITY: {}", in_quotes(word));
  Label label;
  const double action = number(parts[0], "the action of a label", place);
  if (!(action >= 0.0 && action <= most_actions && action == std::floor(action))) {
    throw place.wrong("the action of a label must be a whole number up to {}, not {}", most_actions,
                      in_quotes(parts[0]));
  }
  label.action = static_cast<std::size_t>(action);
  if (parts.size() == 1) return label;
  label.cost = number(parts[1], "the cost", place);
  label.probability = number(parts[2], "the probability", place);
  return label;
}

// |namespace[:scale] name[:value] ...
void add_features(std::string_view text, SparseRows& rows, SparseRows::Row& out, const Place& place) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|', 1), text.size());
    const std::string_view part = text.substr(1, end - 1);
    text.remove_prefix(end);
    std::vector<std::string_view> words = split(part, " \t");
    std::string space;
    double scale = 1.0;
    if (!part.empty() && part.front() != ' ' && part.front() != '\t' && !words.empty()) {
      const std::size_t colon = words[0].find(':');
      space = std::string(words[0].substr(0, colon)) + "^";
      if (colon != std::string_view::npos)
        scale = number(words[0].substr(colon + 1), "the scale of a namespace", place);
      words.erase(words.begin());
    }
    for (const std::string_view word : words) {
      const std::size_t colon = word.rfind(':');
      const double value =
          colon == std::string_view::npos ? 1.0 : number(word.substr(colon + 1), "the value of a feature", place);
      out.emplace_back(rows.column(space + std::string(word.substr(0, colon))), static_cast<float>(scale * value));
    }
  }
}

struct SparseRound {
  SparseRows::Row shared{};
  std::vector<SparseRows::Row> actions{};  // of cb_adf
  std::vector<std::size_t> allowed{};      // of cb: actions that are named
  std::optional<Label> label{};
  std::size_t chosen = 0;
  std::size_t line = 0;  // 0: nothing yet
};

class VwLog {
 public:
  void add_line(std::string_view line, const Place& place) {
    const bool blank = line.find_first_not_of(" \t") == std::string_view::npos;
    if (blank) return end_block();
    const std::size_t bar = line.find('|');
    if (bar == std::string_view::npos) throw place.wrong("no '|' before the features");
    std::string_view head = line.substr(0, bar);
    const std::string_view features = line.substr(bar);
    std::vector<std::string_view> words = split(head, " \t");
    if (!words.empty() && words.back().starts_with('\'')) words.pop_back();  // a tag
    const bool shared = !words.empty() && words[0] == "shared";
    if (first_) adf_ = shared || words.empty() || (words[0].starts_with("0:"));
    first_ = false;
    if (adf_) {
      add_action(words, features, shared, place);
    } else {
      add_round(words, features, place);
    }
  }

  LoggedData finish(const std::string& file, const LogOptions& options) {
    end_block();
    std::size_t K = 0;
    for (const SparseRound& round : rounds_) {
      K = std::max({K, round.actions.size(), adf_ ? 0 : round.chosen + 1});
      for (const std::size_t a : round.allowed) K = std::max(K, a + 1);
    }
    check_dense(file, rounds_.size(), shared_.width() + K * (actions_.width() + 1));
    std::vector<std::string> names = options.actions;
    for (std::size_t a = names.size(); a < K; ++a) names.push_back(std::to_string(a + (adf_ ? 0 : 1)));
    LogBuilder builder(names, options.reward_range);
    builder.set_context_names(shared_.names());
    for (SparseRound& round : rounds_) builder.add(dense(round, names.size()), {.file = file, .line = round.line});
    builder.counts().waiting = unlabelled_;
    return builder.finish(file);
  }

 private:
  // cb: the line is the round. Actions that are named without a cost may be taken too.
  void add_round(const std::vector<std::string_view>& words, std::string_view features, const Place& place) {
    SparseRound round{.line = place.line};
    add_features(features, shared_, round.shared, place);
    for (const std::string_view word : words) {
      const Label label = label_of(word, place);
      if (label.action == 0) throw place.wrong("actions count from 1 in cb, not 0");
      round.allowed.push_back(label.action - 1);
      if (label.cost) take_label(round, label, label.action - 1, place);
    }
    if (round.allowed.size() == 1) round.allowed.clear();  // the label says nothing of the others
    keep(std::move(round));
  }

  // cb_adf: a line is an action, an empty line ends the round.
  void add_action(const std::vector<std::string_view>& words, std::string_view features, bool shared,
                  const Place& place) {
    if (block_.line == 0) block_.line = place.line;
    if (shared) {
      if (!block_.actions.empty()) throw place.wrong("'shared' must be the first line of its block");
      return add_features(features, shared_, block_.shared, place);
    }
    add_features(features, actions_, block_.actions.emplace_back(), place);
    if (words.size() > 1) throw place.wrong("an action has one label, not {}", words.size());
    if (words.empty()) return;
    const Label label = label_of(words[0], place);
    if (label.cost) take_label(block_, label, block_.actions.size() - 1, place);
  }

  static void take_label(SparseRound& round, const Label& label, std::size_t action, const Place& place) {
    if (round.label) throw place.wrong("a second label with a cost: one action was taken");
    round.label = label;
    round.chosen = action;
  }

  void end_block() {
    if (block_.line == 0) return;
    keep(std::move(block_));
    block_ = {};
  }

  void keep(SparseRound round) {
    if (!round.label) {
      ++unlabelled_;
    } else {
      rounds_.push_back(std::move(round));
    }
  }

  RoundRow dense(const SparseRound& round, std::size_t K) const {
    RoundRow row;
    row.action = static_cast<Action>(round.chosen);
    row.reward = -*round.label->cost;
    row.propensity = round.label->probability;
    row.x = shared_.dense(round.shared);
    if (adf_ && round.actions.size() < K) {
      row.allowed.assign(K, 0);
      std::fill_n(row.allowed.begin(), round.actions.size(), 1);
    }
    if (!round.allowed.empty()) {
      row.allowed.assign(K, 0);
      for (const std::size_t a : round.allowed) row.allowed[a] = 1;
    }
    for (std::size_t a = 0; adf_ && actions_.width() > 0 && a < K; ++a) {
      const std::vector<float> z = actions_.dense(a < round.actions.size() ? round.actions[a] : SparseRows::Row());
      row.features.insert(row.features.end(), z.begin(), z.end());
    }
    return row;
  }

  SparseRows shared_, actions_;
  std::vector<SparseRound> rounds_;
  SparseRound block_;
  bool first_ = true, adf_ = false;
  std::uint64_t unlabelled_ = 0;
};

}  // namespace

LoggedData read_vw_log(const std::filesystem::path& path, const LogOptions& options) {
  VwLog log;
  for_each_line(path, [&](std::string_view line, const Place& place) {
    log.add_line(line, place);
    options.read(1);
  });
  return log.finish(path.string(), options);
}

}  // namespace pits
