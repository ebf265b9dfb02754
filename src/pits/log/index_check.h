// Compares the index of decisions and the callers' keys with the events that they are caches of.
#pragma once

#include <map>
#include <unordered_map>

#include "pits/log/decision_index.h"

namespace pits {

// A service may go on writing the log meanwhile.
class IndexCheck {
 public:
  explicit IndexCheck(const Store& store);  // before the events are read

  void see(EventNumber number, const Event& event);
  // After the last one. Events before `oldest` were dropped; 0: none. Throws where the index says something else.
  void finish(EventNumber oldest) const;

 private:
  void check_key(EventNumber number, const Decided& decided) const;
  void check_entry(DecisionId id, const IndexEntry& found, const IndexEntry& known, EventNumber oldest) const;

  const Store& store_;
  EventNumber written_to_;                                      // changes up to here are in the pages of the store
  EventNumber last_ = 0;                                        // event that was seen
  std::map<std::uint64_t, IndexPage> pages_;                    // as they were then
  std::unordered_multimap<DecisionId, std::uint64_t> later_{};  // changes after that
};

}  // namespace pits
