// The tables of a fleet, in the schema `pits` of a database, how older ones are brought forward, and the partitions of
// its events.
#pragma once

#include <span>

#include "pits/fleet/postgres.h"

namespace pits {

// Each step takes the tables from one version to the next; the first makes them. A step that was released never
// changes.
std::span<const char* const> table_steps();

// Brings the tables to the last step, in one transaction; many servers may do it at once. Throws where they are newer.
void migrate(Postgres& database, std::span<const char* const> steps = table_steps());

// For who reads, and for tools: throws unless the tables are those of this pits, and changes nothing. A tool of a newer
// pits must not change the tables under the servers, and who may only read cannot.
void check_tables(Postgres& database);

// Events are partitioned by time: groups go to the newest partition of pits.part, and a new one is made when it is that
// old. A closed partition is dropped once no bandit needs an event of it (pits.bandit.oldest); until then, what single
// bandits have dropped of it is deleted. Partition 0 has the first group of every bandit and stays. For any server, now
// and then; nobody waits longer for it than a fifth of a second. True where there is more to delete.
struct PartitionAges {
  double length = 7 * 86'400.0;         // seconds from one partition to the next
  double closed = 3600.0;               // that one must have been closed for before anything of it is deleted
  std::chrono::milliseconds work{200};  // after which nothing more is deleted, about
};
bool keep_partitions(Postgres& database, const PartitionAges& ages = {});

// Deletes calls to bandits that were removed: nobody answers them.
void clean_inbox(Postgres& database);

}  // namespace pits
