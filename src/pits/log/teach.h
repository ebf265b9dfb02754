// A new log from an old one. A schema does not change, and neither does an agent; but another bandit can be taught what
// the old one has seen, and goes on from there: decisions that wait are rewarded in the new log, and ids never repeat.
//
//   auto store = std::make_unique<pits::SqliteStore>("new");
//   pits::teach(*store, pits::SqliteStore("shop", pits::Access::read), {.schema = schema});
//   pits::LiveBandit live(std::move(store));
#pragma once

#include <optional>

#include "pits/log/store.h"

namespace pits {

// Empty: as in the old log.
struct TeachSetup {
  std::string agent{};
  std::string schema{};                 // JSON
  std::optional<std::uint64_t> seed{};  // random unless given
};

struct Teaching {
  std::uint64_t decisions = 0;  // that the new log has
  std::uint64_t learned = 0, waiting = 0, refused = 0, trainings = 0;
  std::uint64_t left_out = 0;  // erased, or without a named context that another schema could encode
};

// Writes to an empty store what happened in the old log, at the same times: the same actions and settings, decisions
// with the same ids, masks, actions and propensities, and how they settled. Their numbers are the logged ones; where
// the schema is another one, it encodes the named contexts. The new agent learns in the order of the old log, is
// trained when that is due, and is kept as a snapshot. Features of actions are left out where it takes none.
//
// A context that the schema refuses is an Error that names the decision, before anything is written. Where writing
// fails, the new store is of no use.
Teaching teach(Store& to, const Store& from, const TeachSetup& setup);

}  // namespace pits
