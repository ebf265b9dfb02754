// Decisions and rewards over HTTP.
#include "pits/serve/service.h"

namespace pits {
namespace {

// A decision whose token would be longer than about 1.5 kB is durable first instead.
constexpr std::size_t most_token_numbers = 250;
constexpr DecisionId no_decision = std::numeric_limits<DecisionId>::max();  // never given

bool fits_token(const Decided& decided) {
  return decided.x.size() + decided.features.size() + decided.propensities.size() + decided.allowed.size() / 4 <=
         most_token_numbers;
}

// Its name, or the number of the candidate.
void append_action(std::string& out, const LiveBandit& live, Action action) {
  if (live.created().actions.empty()) {
    fmt::format_to(std::back_inserter(out), "{}", action);
  } else {
    append_json(out, live.name(action));
  }
}

void append_decided(std::string& out, const LiveBandit& live, const Decided& decided, std::string_view token,
                    const std::vector<Action>& ranking) {
  fmt::format_to(std::back_inserter(out), "{{\"id\": {}, \"action\": ", decided.id);
  append_action(out, live, decided.action);
  fmt::format_to(std::back_inserter(out), ", \"propensity\": {}, \"propensity_error\": {}, \"model\": {}",
                 decided.propensities.at(decided.action), decided.propensity_error, decided.model);
  if (!token.empty()) out.append(", \"token\": \"").append(token).append("\"");
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    out += i == 0 ? ", \"ranking\": [{\"action\": " : ", {\"action\": ";
    append_action(out, live, ranking[i]);
    fmt::format_to(std::back_inserter(out), ", \"probability\": {}}}", decided.propensities.at(ranking[i]));
  }
  out += ranking.empty() ? "}" : "]}";
}

// The order of the actions of a logged decision, whose draws are not kept: its own first, the others by probability.
std::vector<Action> by_probability(const Decided& decided) {
  std::vector<Action> ranking;
  for (Action a = 0; a < decided.propensities.size(); ++a) {
    if (decided.allowed.empty() || decided.allowed[a] != 0) ranking.push_back(a);
  }
  std::ranges::stable_sort(ranking, [&](Action a, Action b) {
    if ((a == decided.action) != (b == decided.action)) return a == decided.action;
    return decided.propensities[a] > decided.propensities[b];
  });
  return ranking;
}

// {"decisions": [A, B]}, or A alone.
class DecidedList {
 public:
  explicit DecidedList(bool many) : many_(many), text_(many ? "{\"decisions\": [" : "") {}
  std::string& next() {
    if (count_++ > 0) text_ += ", ";
    return text_;
  }
  std::string finish() { return std::move(text_ += many_ ? "]}\n" : "\n"); }

 private:
  bool many_;
  std::string text_;
  std::size_t count_ = 0;
};

int status_of(Answer answer) {
  switch (answer) {
    case Answer::accepted:
    case Answer::duplicate: return 200;
    case Answer::unknown: return 404;
    case Answer::expired: return 410;
    case Answer::full: return 409;
  }
  return 500;
}

HttpReply reply_of(Answer answer) {
  static constexpr std::array reasons{"", "", "the decision has settled without it", "there is no such decision",
                                      "the decision has as many rewards as it can have"};
  const int status = status_of(answer);
  if (status == 200) return {.body = fmt::format("{{\"answer\": \"{}\"}}\n", format_value(answer))};
  return {.status = status,
          .body = fmt::format("{{\"answer\": \"{}\", \"error\": \"{}\"}}\n", format_value(answer),
                              reasons[static_cast<std::size_t>(answer)])};
}

HttpReply reply_of(const std::vector<Answer>& answers) {
  std::string body = "{\"answers\": [";
  for (std::size_t i = 0; i < answers.size(); ++i) {
    body.append(i == 0 ? "\"" : ", \"").append(enum_names<Answer>[static_cast<std::size_t>(answers[i])]).append("\"");
  }
  return {.body = body + "]}\n"};
}

}  // namespace

void Service::decide(Exchange& e, bool rank) {
  const auto bandit = bandits_.find(e.name);
  LiveBandit& live = bandit->live();
  const auto asked = read_decide(e.request.body, live.schema(), live.created().context_size);
  std::vector<Decided> made;
  std::vector<std::vector<Action>> rankings(asked.requests.size());
  bool durable = config_.durable_decisions;
  for (const DecideRequest& request : asked.requests) {
    std::vector<Action>* ranking = rank ? &rankings[made.size()] : nullptr;
    made.push_back(live.make(request.x, request.actions(), request.labels, ranking));
    durable = durable || !request.labels.key.empty() || !fits_token(made.back());
  }
  if (durable) return decide_durably(e, live, std::move(made), std::move(rankings), asked.many);
  DecidedList list(asked.many);
  const Microseconds now = system_clock().utc();
  for (std::size_t i = 0; i < made.size(); ++i) {
    const std::string token = credentials_.read(
        [&](const Credentials& with) { return with.tokens.seal(made[i], now, bandit->name(), live.created().seed); });
    append_decided(list.next(), live, made[i], token, rankings[i]);
    live.write(std::move(made[i]));  // one that cannot be written now is counted as a gap
  }
  e.reply(list.finish());
}

// Answered by the writing thread of the bandit, which calls all the functions below, in order.
void Service::decide_durably(Exchange& e, LiveBandit& live, std::vector<Decided> made,
                             std::vector<std::vector<Action>> rankings, bool many) {
  struct Waiting {
    Reply reply;
    DecidedList list;
    std::vector<std::vector<Action>> rankings;
    std::size_t done = 0;
    std::exception_ptr error{};
  };
  const auto waiting = std::make_shared<Waiting>(Waiting{std::move(e.reply), DecidedList(many), std::move(rankings)});
  for (Decided& decided : made) {
    const DecisionId id = decided.id;
    live.write(std::move(decided), [waiting, &live, id](const Decided* written, const std::exception_ptr& error) {
      Waiting& w = *waiting;
      try {
        if (error) std::rethrow_exception(error);
        const bool earlier = written->id != id;  // with the same key
        const bool ranked = !w.rankings[w.done].empty();
        append_decided(w.list.next(), live, *written, {},
                       earlier && ranked ? by_probability(*written) : w.rankings[w.done]);
      } catch (...) {
        w.error = std::current_exception();
      }
      if (++w.done < w.rankings.size()) return;
      w.error ? w.reply(w.error) : w.reply(w.list.finish());
    });
  }
}

// A token that cannot be opened, because its key is gone, does no harm where the decision is named without it.
std::shared_ptr<const Restored> Service::record_in(const std::string& token, const ServedBandit& bandit,
                                                   bool named) const {
  try {
    return std::make_shared<const Restored>(credentials_.read(
        [&](const Credentials& with) { return with.tokens.open(token, bandit.name(), bandit.live().created().seed); }));
  } catch (const Error&) {
    if (named) return nullptr;
    throw;
  }
}

Reward Service::reward_of(const ServedBandit& bandit, const RewardRequest& request) const {
  Reward reward{.id = 0, .value = request.value, .key = request.key};
  std::optional<DecisionId> id = request.id;
  if (!request.decision.empty()) {
    const auto found = bandit.live().find(request.decision);
    if (id && found && *id != *found) throw bad_input("'id' and 'decision' name different decisions");
    id = found.value_or(no_decision);
  }
  if (!request.token.empty()) reward.record = record_in(request.token, bandit, id.has_value());
  if (reward.record) {
    if (id && *id != reward.record->id) throw bad_input("'token' is that of another decision");
    id = reward.record->id;
  }
  reward.id = *id;
  return reward;
}

void Service::reward(Exchange& e) {
  const auto bandit = bandits_.find(e.name);
  const auto asked = read_rewards(e.request.body);
  std::vector<Reward> rewards;
  rewards.reserve(asked.requests.size());
  for (const RewardRequest& request : asked.requests) rewards.push_back(reward_of(*bandit, request));
  bandit->live().reward(std::move(rewards), [reply = std::make_shared<Reply>(std::move(e.reply)), many = asked.many](
                                                const std::vector<Answer>& answers, const std::exception_ptr& error) {
    if (error) return (*reply)(error);
    (*reply)(many ? reply_of(answers) : reply_of(answers.front()));
  });
}

void Service::settle(Exchange& e, bool cancel) {
  const auto bandit = bandits_.find(e.name);
  const Reward which = reward_of(*bandit, read_decision(e.request.body));
  const auto done = [reply = std::make_shared<Reply>(std::move(e.reply))](const std::vector<Answer>& answers,
                                                                          const std::exception_ptr& error) {
    if (error) return (*reply)(error);
    (*reply)(reply_of(answers.front()));
  };
  if (cancel) {
    bandit->live().cancel(which.id, which.record, done);
  } else {
    bandit->live().activate(which.id, which.record, done);
  }
}

}  // namespace pits
