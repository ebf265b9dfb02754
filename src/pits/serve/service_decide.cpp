// Decisions and rewards over HTTP.
#include <fmt/compile.h>

#include "pits/serve/service.h"

namespace pits {
namespace {

// A decision whose token would be longer than about 1.5 kB is durable first instead.
constexpr std::size_t most_token_numbers = 250;
constexpr Microseconds keys_are_new = 60'000'000;                           // after they were read
constexpr DecisionId no_decision = std::numeric_limits<DecisionId>::max();  // never given

bool fits_token(const Decided& decided) {
  return decided.x.size() + decided.features.size() + decided.propensities.size() + decided.allowed.size() / 4 <=
         most_token_numbers;
}

// A name before it, such as ", \"model\": ", and a number.
template <class Number>
void append_number(std::string& out, std::string_view before, Number value) {
  std::array<char, 32> digits;
  out.append(before).append(digits.data(), fmt::format_to(digits.data(), FMT_COMPILE("{}"), value));
}

// Its name, or the number of the candidate.
void append_action(std::string& out, const Decider& decider, Action action) {
  if (decider.created().actions.empty()) {
    append_number(out, {}, action);
  } else {
    append_json(out, decider.name(action));
  }
}

// Without the end, which append_ranking writes; a token may come between.
void append_decided(std::string& out, const Decider& decider, const Decided& decided) {
  append_number(out, "{\"id\": ", decided.id);
  out += ", \"action\": ";
  append_action(out, decider, decided.action);
  append_number(out, ", \"propensity\": ", decided.propensities.at(decided.action));
  append_number(out, ", \"propensity_error\": ", decided.propensity_error);
  append_number(out, ", \"model\": ", decided.model);
}

void append_ranking(std::string& out, const Decider& decider, const Decided& decided,
                    const std::vector<Action>& ranking) {
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    out += i == 0 ? ", \"ranking\": [{\"action\": " : ", {\"action\": ";
    append_action(out, decider, ranking[i]);
    append_number(out, ", \"probability\": ", decided.propensities.at(ranking[i]));
    out += '}';
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
  DecidedList(bool many, std::size_t n) : many_(many) {
    text_.reserve(n * room);
    if (many) text_ = "{\"decisions\": [";
  }
  std::string& next() {
    if (count_++ > 0) text_ += ", ";
    return text_;
  }
  std::string finish() { return std::move(text_ += many_ ? "]}\n" : "\n"); }

 private:
  static constexpr std::size_t room = 600;  // for a decision with its token
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
  if (status == 200) {
    return {.body =
                std::string("{\"answer\": \"").append(enum_names<Answer>[static_cast<std::size_t>(answer)]) + "\"}\n"};
  }
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

void Service::decide(Asked& asked) {
  LiveCalls& live = asked.bandit->live();
  const Decider& decider = std::as_const(live).decider();
  std::vector<std::vector<Action>> rankings(asked.rank ? asked.all.requests.size() : 0);
  thread_local std::vector<Decided> made;  // the memory of earlier ones
  make_all(asked, rankings, made);
  bool durable = config_.durable_decisions;
  for (const Decided& one : made) durable = durable || !one.key.empty() || !fits_token(one);
  if (durable) return decide_durably(asked, std::move(made), std::move(rankings));
  DecidedList list(asked.all.many, made.size());
  const Microseconds now = system_clock().utc();
  for (std::size_t i = 0; i < made.size(); ++i) {
    std::string& text = list.next();
    append_decided(text, decider, made[i]);
    text += ", \"token\": \"";
    credentials_.read([&](const Credentials& with) {
      with.tokens.append(text, made[i], now, asked.bandit->name(), decider.created().seed);
      return 0;
    });
    text += '"';
    append_ranking(text, decider, made[i], asked.rank ? rankings[i] : std::vector<Action>());
    live.write(std::move(made[i]));  // one that cannot be written now is counted as a gap
  }
  asked.reply(list.finish());
}

// The functions below are called by threads that write, in any order; the last one answers.
void Service::decide_durably(Asked& asked, std::vector<Decided> made, std::vector<std::vector<Action>> rankings) {
  LiveCalls& live = asked.bandit->live();
  struct Waiting {
    Reply reply;
    bool many;
    std::vector<std::vector<Action>> rankings;
    std::vector<std::string> texts;  // of the decisions
    std::mutex mutex{};
    std::size_t done = 0;
    std::exception_ptr error{};
  };
  rankings.resize(made.size());  // empty where none is asked for
  const auto waiting =
      std::shared_ptr<Waiting>(new Waiting{std::move(asked.reply), asked.all.many, std::move(rankings), {}});
  waiting->texts.resize(made.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    const DecisionId id = made[i].id;
    live.write(std::move(made[i]), [waiting, &decider = std::as_const(live).decider(), id, i](
                                       const Decided* written, const std::exception_ptr& error) {
      Waiting& w = *waiting;
      const std::scoped_lock lock(w.mutex);
      try {
        if (error) std::rethrow_exception(error);
        const bool earlier = written->id != id;  // with the same key
        const bool ranked = !w.rankings[i].empty();
        append_decided(w.texts[i], decider, *written);
        append_ranking(w.texts[i], decider, *written, earlier && ranked ? by_probability(*written) : w.rankings[i]);
      } catch (...) {
        w.error = std::current_exception();
      }
      if (++w.done < w.texts.size()) return;
      if (w.error) return w.reply(w.error);
      DecidedList list(w.many, w.texts.size());
      for (const std::string& text : w.texts) list.next() += text;
      w.reply(list.finish());
    });
  }
}

// A token that cannot be opened, because its key is gone, does no harm where the decision is named without it. Another
// server of a fleet may have made the key: it is read again before the token is refused.
std::shared_ptr<const Restored> Service::record_in(const std::string& token, const ServedBandit& bandit, bool named) {
  try {
    return std::make_shared<const Restored>(credentials_.read([&](const Credentials& with) {
      return with.tokens.open(token, bandit.name(), bandit.decider().created().seed);
    }));
  } catch (const UnknownKey&) {
    if (named) return nullptr;
    if (!source_->shared() || system_clock().steady() - reloaded_at_ < keys_are_new) throw;
    reload_asked_ = true;
    throw unavailable("the key of the token is not known here yet");
  } catch (const Error&) {
    if (named) return nullptr;
    throw;
  }
}

Reward Service::reward_of(const ServedBandit& bandit, const RewardRequest& request) {
  Reward reward{.id = 0, .value = request.value, .key = request.key};
  std::optional<DecisionId> id = request.id;
  const bool by_key = !request.decision.empty();
  if (by_key) {
    const auto found = bandit.live().find(request.decision);  // a key may be forgotten before its decision
    if (id && found && *id != *found) throw bad_input("'id' and 'decision' name different decisions");
    if (!id) id = found;
  }
  if (!request.token.empty()) reward.record = record_in(request.token, bandit, id.has_value() || by_key);
  if (reward.record) {
    if (id && *id != reward.record->id) throw bad_input("'token' is that of another decision");
    id = reward.record->id;
  }
  reward.id = id.value_or(no_decision);
  return reward;
}

void Service::find_then(Exchange& e, bool by_key, std::function<void(const std::shared_ptr<Reply>&)> run) {
  const auto reply = std::make_shared<Reply>(std::move(e.reply));
  const auto safely = [reply, run = std::move(run)] {
    try {
      run(reply);
    } catch (...) {
      (*reply)(std::current_exception());
    }
  };
  if (!by_key) return safely();
  if (!lookups_.add(safely)) (*reply)(unavailable("too many requests of this kind wait"));
}

void Service::reward(Exchange& e) {
  const auto bandit = bandits_.find(e.name);
  auto asked = read_rewards(e.request.body);
  const bool by_key = std::ranges::any_of(asked.requests, [](const auto& one) { return !one.decision.empty(); });
  find_then(e, by_key, [this, bandit, asked = std::move(asked)](const std::shared_ptr<Reply>& reply) {
    std::vector<Reward> rewards;
    rewards.reserve(asked.requests.size());
    for (const RewardRequest& request : asked.requests) rewards.push_back(reward_of(*bandit, request));
    bandit->live().reward(std::move(rewards), [reply, many = asked.many](const std::vector<Answer>& answers,
                                                                         const std::exception_ptr& error) {
      if (error) return (*reply)(error);
      (*reply)(many ? reply_of(answers) : reply_of(answers.front()));
    });
  });
}

void Service::settle(Exchange& e, bool cancel) {
  const auto bandit = bandits_.find(e.name);
  const RewardRequest asked = read_decision(e.request.body);
  find_then(e, !asked.decision.empty(), [this, bandit, asked, cancel](const std::shared_ptr<Reply>& reply) {
    const Reward which = reward_of(*bandit, asked);
    const auto done = [reply](const std::vector<Answer>& answers, const std::exception_ptr& error) {
      if (error) return (*reply)(error);
      (*reply)(reply_of(answers.front()));
    };
    if (cancel) {
      bandit->live().cancel(which.id, which.record, done);
    } else {
      bandit->live().activate(which.id, which.record, done);
    }
  });
}

}  // namespace pits
