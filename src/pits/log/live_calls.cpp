// What a service calls: decisions in two steps, and calls that nobody waits for.
#include "pits/log/live_bandit.h"

namespace pits {
namespace {

void raise(std::atomic<DecisionId>& id, DecisionId least) {
  for (DecisionId now = id; now < least && !id.compare_exchange_weak(now, least);) {
  }
}

}  // namespace

Decided LiveBandit::make(ContextView x, const ActionSet& actions, const DecisionLabels& labels,
                         std::vector<Action>* ranking) {
  return decider_->make(x, actions, labels, ranking, false);
}

Choice LiveBandit::decide(std::string_view context, const ActionSet& actions, DecisionLabels labels) {
  labels.context = context;
  return decide(ContextView(decider_->encode(context)), actions, labels);
}

Decided LiveBandit::make(std::string_view context, const ActionSet& actions, DecisionLabels labels,
                         std::vector<Action>* ranking) {
  labels.context = context;
  return make(ContextView(decider_->encode(context)), actions, labels, ranking);
}

bool LiveBandit::write(Decided&& decided) {
  if (writer_->add(std::move(decided))) return true;
  writer_->add_to_gap();
  return false;
}

void LiveBandit::write(Decided decided, Written done) {
  const auto made = std::make_shared<Decided>(std::move(decided));
  const auto id = std::make_shared<DecisionId>(0);
  writer_->add({.apply = [made, id](Ledger& ledger) { *id = ledger.decide(*made); },
                .finish =
                    [made, id, done = std::move(done)](Ledger& ledger, std::exception_ptr error) {
                      std::optional<Decided> earlier;
                      try {
                        if (!error && *id != made->id) earlier = ledger.find(*id).value();
                      } catch (...) {
                        error = std::current_exception();
                      }
                      done(error ? nullptr : earlier ? &*earlier : made.get(), error);
                    }});
}

// Ids of before a backup, which its log did not know.
void LiveBandit::skip_ids(const Ledger& ledger) { raise(next_id_, ledger.ids_start()); }

// A batch is taken as a whole or refused as a whole.
std::vector<Answer> LiveBandit::reward_all(Ledger& ledger, std::span<const Reward> rewards) {
  for (const Reward& reward : rewards) ledger.check(reward);
  std::vector<Answer> answers;
  for (const Reward& reward : rewards) answers.push_back(ledger.reward(reward));
  return answers;
}

template <class Call>
void LiveBandit::add(Call call, Answered done) {
  const auto answers = std::make_shared<std::vector<Answer>>();
  writer_->add({.apply = [answers, call = std::move(call)](Ledger& ledger) { *answers = call(ledger); },
                .finish =
                    [this, answers, done = std::move(done)](Ledger& ledger, const std::exception_ptr& error) {
                      skip_ids(ledger);
                      done(error ? std::vector<Answer>() : std::move(*answers), error);
                    }});
}

void LiveBandit::reward(std::vector<Reward> rewards, Answered done) {
  add([rewards = std::move(rewards)](Ledger& ledger) { return reward_all(ledger, rewards); }, std::move(done));
}

void LiveBandit::activate(DecisionId id, Record record, Answered done) {
  add([id, record = std::move(record)](Ledger& ledger) { return std::vector{ledger.activate(id, record.get())}; },
      std::move(done));
}

void LiveBandit::cancel(DecisionId id, Record record, Answered done) {
  add([id, record = std::move(record)](Ledger& ledger) { return std::vector{ledger.cancel(id, record.get())}; },
      std::move(done));
}

// The same, and waits.
template <class Call>
auto LiveBandit::call(Call&& call) {
  return writer_->call_then(std::forward<Call>(call), [this](Ledger& ledger, auto result) {
    skip_ids(ledger);
    return result;
  });
}

Answer LiveBandit::reward(const Reward& reward) {
  return call([&](Ledger& ledger) { return ledger.reward(reward); });
}

std::vector<Answer> LiveBandit::reward(std::span<const Reward> rewards) {
  return call([&](Ledger& ledger) { return reward_all(ledger, rewards); });
}

Answer LiveBandit::activate(DecisionId id, const Record& record) {
  return call([&](Ledger& ledger) { return ledger.activate(id, record.get()); });
}

Answer LiveBandit::cancel(DecisionId id, const Record& record) {
  return call([&](Ledger& ledger) { return ledger.cancel(id, record.get()); });
}

}  // namespace pits
