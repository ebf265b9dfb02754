// Agents and environments written in Python. The runner calls them from its threads, so every call takes the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include "pits/agent/catalogue.h"
#include "pits/environment/catalogue.h"

namespace pits::python {

// factory(n_actions=, n_features=, seed=, realization=) gives an object with choose(x) and learn(x, action, reward).
AgentEntry custom_agent(const std::string& label, pybind11::object factory);
// factory(seed=, realization=, steps=) gives an object with n_features, n_actions and draw(t), which returns a context,
// the reward of every action and, where they differ, the mean rewards; `horizon` ends it early.
EnvironmentEntry custom_environment(const std::string& label, pybind11::object factory);

}  // namespace pits::python
