// Decisions of one thread that are computed together.
#pragma once

#include <memory>
#include <span>

#include "pits/agent/query.h"

namespace pits {

// An agent whose decisions in several contexts cost less together than one after the other.
class DecidesTogether {
 public:
  virtual ~DecidesTogether() = default;

  // While the result lives, this thread's decisions in these contexts, which lie where they are now, use what was
  // computed for all of them. They are the same decisions. The agent must not learn meanwhile. Null: nothing is gained.
  virtual std::shared_ptr<void> prepare(std::span<const ContextView> contexts) const = 0;

 protected:
  DecidesTogether() = default;
  DecidesTogether(const DecidesTogether&) = default;
  DecidesTogether& operator=(const DecidesTogether&) = default;
};

}  // namespace pits
