// The tables of a fleet, in the schema `pits` of a database, and how older ones are brought forward.
#pragma once

#include <span>

#include "pits/fleet/postgres.h"

namespace pits {

// Each step takes the tables from one version to the next; the first makes them. A step that was released never
// changes.
std::span<const char* const> table_steps();

// Brings the tables to the last step, in one transaction; many servers may do it at once. Throws where they are newer.
void migrate(Postgres& database, std::span<const char* const> steps = table_steps());

}  // namespace pits
