// All problems by name.
#pragma once

#include "pits/core/catalogue.h"
#include "pits/environment/environment.h"

namespace pits {

using EnvironmentRecipe = Recipe<Environment, EnvironmentSetup>;
using EnvironmentEntry = Entry<Environment, EnvironmentSetup>;

const std::vector<EnvironmentEntry>& environment_catalogue();

}  // namespace pits
