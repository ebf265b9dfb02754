// The catalogue line of CONTRIBUTING.md's walkthrough, in a catalogue made as the real one is.
#include <gtest/gtest.h>

#include "follow_the_leader.h"
#include "pits/agent/catalogue.h"

namespace pits {
namespace {

template <class Made, class Config>
AgentEntry agent(std::string name, std::string summary) {
  return make_entry<Agent, AgentSetup, Made, Config>(std::move(name), std::move(summary), {}, default_config<Config>);
}

TEST(Walkthrough, CatalogueLineMakesTheAgentAndSetsItsField) {
  const std::vector<AgentEntry> catalogue = {
#include "catalogue_line.inc"
  };
  const auto recipe = find_recipe(catalogue, "agent", parse_spec("follow-the-leader,initial_pulls=3"));
  EXPECT_EQ(recipe->fields().list().front().get(), "3");
  EXPECT_NE(recipe->make({.context_size = 1, .actions = 2}), nullptr);
}

}  // namespace
}  // namespace pits
