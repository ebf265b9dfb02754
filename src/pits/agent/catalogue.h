// Every agent by name.
#pragma once

#include "pits/agent/agent.h"
#include "pits/core/catalogue.h"

namespace pits {

using AgentRecipe = Recipe<Agent, AgentSetup>;
using AgentEntry = Entry<Agent, AgentSetup>;

const std::vector<AgentEntry>& agent_catalogue();

}  // namespace pits
