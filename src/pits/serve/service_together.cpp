// Decisions that are made together: those of one request, and those of requests that come at the same time.
#include "pits/serve/service.h"

namespace pits {
namespace {

// What is read once for a few decisions costs little of each; more of them would only wait for each other.
constexpr std::size_t most_together = 4;

constexpr std::size_t most_at_once = 64;  // decisions of a request, for which others may wait

}  // namespace

void Service::make_all(Asked& asked, std::vector<std::vector<Action>>& rankings, std::vector<Decided>& made) {
  Decider& decider = asked.bandit->live().decider();
  const std::vector<DecideRequest>& requests = asked.all.requests;
  made.resize(requests.size());
  std::size_t i = 0;
  const auto make_until = [&](std::size_t end) {
    for (; i < end; ++i) {
      const DecideRequest& request = requests[i];
      std::vector<Action>* ranking = asked.rank ? &rankings[i] : nullptr;
      decider.make(request.x, request.actions(), request.labels, ranking, false, made[i]);
    }
  };
  while (requests.size() > 1 && i < requests.size()) {
    const std::size_t end = std::min(requests.size(), i + most_together);
    std::vector<ContextView> contexts;
    for (std::size_t j = i; j < end; ++j) contexts.emplace_back(requests[j].x);
    decider.together(contexts, [&] { make_until(end); });
  }
  make_until(requests.size());
}

// A request with one decision waits for others of its turn, at most so many that they are decided together. One with
// very many is worked on elsewhere: nobody else on this thread waits for it.
void Service::decide(Exchange& e, bool rank) {
  auto bandit = bandits_.find(e.name);
  const Decider& decider = bandit->decider();
  auto all = read_decide(e.request.body, decider.schema(), decider.created().context_size);
  Asked asked{std::move(bandit), std::move(all), rank, std::move(e.reply)};
  if (asked.all.requests.size() > most_at_once) {
    const auto batch = std::make_shared<Asked>(std::move(asked));
    if (!batches_.add([this, batch] { decide_all({batch.get(), 1}); }))
      batch->reply(unavailable("too many batches wait"));
    return;
  }
  std::vector<Asked>& waiting = put_off();
  const bool waits = e.request.may_wait && decider.gains_together() && asked.all.requests.size() == 1;
  if (waits && (waiting.empty() || waiting.front().bandit == asked.bandit)) {
    waiting.push_back(std::move(asked));
    if (waiting.size() == most_together) end_turn();
    return;
  }
  decide_all({&asked, 1});
}

std::vector<Service::Asked>& Service::put_off() {
  thread_local std::vector<Asked> waiting;
  return waiting;
}

bool Service::end_turn() {
  std::vector<Asked> all;
  all.swap(put_off());
  if (!all.empty()) decide_all(all);
  return !all.empty();
}

// What is wrong with one is answered to that one.
void Service::decide_all(std::span<Asked> all) {
  const auto each = [&] {
    for (Asked& asked : all) {
      try {
        decide(asked);
      } catch (...) {
        asked.reply(std::current_exception());
      }
    }
  };
  if (all.size() == 1) return each();
  std::vector<ContextView> contexts;
  for (const Asked& asked : all) contexts.emplace_back(asked.all.requests.front().x);
  all.front().bandit->decider().together(contexts, each);
}

}  // namespace pits
