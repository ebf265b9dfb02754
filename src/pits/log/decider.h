// Makes decisions by the policy that was published last, in the caller's words: named contexts and named actions. From
// any thread, without a lock.
#pragma once

#include <functional>
#include <map>
#include <mutex>

#include "pits/bandit/serving_policy.h"
#include "pits/log/event.h"
#include "pits/log/left_right.h"
#include "pits/schema/schema.h"

namespace pits {

// What a decision is called and was made of, in the caller's words.
struct DecisionLabels {
  std::string key{};                   // the caller's own name: a second decision with it is the first one
  std::string context{};               // the named context, as it came
  std::vector<std::string> allowed{};  // names of the actions it may take, instead of a mask; empty: as the mask says
};

class Decider {
 public:
  using NextId = std::function<DecisionId(bool wait)>;

  Decider(Created created, ServingPolicy policy, EventNumber number, NextId next_id);

  // All allowed actions are in `ranking`: the decision's own first, the others by the same draws.
  Decided make(ContextView x, const ActionSet& actions, const DecisionLabels& labels, std::vector<Action>* ranking,
               bool wait) {
    Decided made;
    make(x, actions, labels, ranking, wait, made);
    return made;
  }
  // The same in the memory of `made`, whatever that was.
  void make(ContextView x, const ActionSet& actions, const DecisionLabels& labels, std::vector<Action>* ranking,
            bool wait, Decided& made);
  // decide(), which may call make(): in these contexts, which lie where they are now, that costs less where several are
  // decided together (agent/together.h).
  template <class Decide>
  void together(std::span<const ContextView> contexts, Decide&& decide) const {
    published_.read([&](const Published& by) {
      const std::shared_ptr<void> prepared = prepare(contexts, by);
      decide();
      return 0;
    });
  }
  bool gains_together() const { return gains_together_; }
  std::vector<float> encode(std::string_view context) const;
  double probabilities(ContextView x, const ActionSet& actions, DecisionId id, std::span<float> p) const;

  // A copy of a policy that has learned events 1..number. One that has learned less than the last one is ignored.
  // `engine`: that learned it, where it may be another's than this process has.
  void publish(const ServingPolicy& policy, EventNumber number, const std::string& engine = {});
  // Before a policy that knows them.
  void publish_names(const std::vector<std::string>& all);

  EventNumber model() const;  // number of the policy
  std::uint64_t made() const { return made_; }
  // Names of actions; an Error where there is no such action.
  std::vector<std::string> actions() const;
  Action action(std::string_view name) const;
  std::string name(Action action) const;
  std::vector<std::uint8_t> retired() const;  // (K) 1: retired
  const std::optional<Schema>& schema() const { return schema_; }
  const Created& created() const { return created_; }  // the log's first event

 private:
  struct Published {
    ServingPolicy policy;
    EventNumber number;
    std::string engine{};  // of this process, where another one has learned the policy
  };
  struct ActionNames {
    std::vector<std::string> all;
    std::map<std::string, Action, std::less<>> index{};

    Action find(std::string_view name, std::size_t K) const;  // among the first K
    std::vector<std::string> first(std::size_t K) const;
  };

  std::size_t action_count() const;  // that decisions know
  std::shared_ptr<void> prepare(std::span<const ContextView> contexts, const Published& by) const;
  std::vector<std::uint8_t> mask_of(const std::vector<std::string>& allowed, std::size_t K) const;
  static void decide(ContextView x, const ActionSet& actions, DecisionId id, const Published& by,
                     std::vector<Action>* ranking, Decided& made);

  Created created_;
  std::optional<Schema> schema_;
  NextId next_id_;
  bool gains_together_;
  std::mutex publishing_, naming_;  // two: a reader of the policy may wait for whoever adds a name
  LeftRight<Published> published_;
  std::unique_ptr<Published> spare_{};  // that was published before
  LeftRight<ActionNames> names_;        // those of the published policy, and perhaps some that are on the way
  std::atomic<std::uint64_t> made_{0};
};

}  // namespace pits
