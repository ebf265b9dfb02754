#include "pits/bandit/bandit.h"

#include <algorithm>
#include <cmath>

#include "pits/core/files.h"

namespace pits {
namespace {

constexpr std::string_view kind = "bandit";

std::string preset_of(const Spec& spec) {
  const auto named = [&](const AgentEntry& entry) { return entry.name == spec.name && !entry.presets.empty(); };
  const auto entry = std::ranges::find_if(agent_catalogue(), named);
  const bool implied = spec.preset.empty() && entry != agent_catalogue().end();
  return implied ? entry->presets.front().name : spec.preset;
}

// As the agent is made now, whatever the defaults of a later version are.
Spec spelled_out(const Spec& spec, AgentRecipe& recipe) {
  Spec whole{.text = {}, .name = spec.name, .preset = preset_of(spec), .assignments = {}};
  whole.text = whole.name + (whole.preset.empty() ? "" : ":" + whole.preset);
  for (const Field& field : recipe.fields().list()) {
    whole.assignments.emplace_back(field.name, field.get());
    whole.text += "," + field.name + "=" + field.get();
  }
  return whole;
}

// A config as text, which outlives changes of its layout.
template <class Config>
void config_state(Archive& archive, Config& config) {
  std::vector<std::pair<std::string, std::string>> values;
  Fields list = fields(config);
  for (const Field& field : list.list()) values.emplace_back(field.name, field.get());
  if (archive.reading()) values.clear();
  archive(values);
  for (const auto& [name, value] : values) list.set(name, value);
}

void setup_state(Archive& archive, AgentSetup& setup) {
  archive(setup.context_size, setup.actions, setup.seed, setup.realization);
}

}  // namespace

Fields fields(BanditConfig& c) {
  return Fields{}
      .add("default_after", c.default_after,
           "decisions after which a reward that has not come counts as default_reward; 0: never", at_least(0))
      .add("default_reward", c.default_reward, "what a reward that never came counts as");
}

Bandit::Bandit(std::string_view agent, const AgentSetup& setup, const BanditConfig& config)
    : Bandit(parse_spec(agent), setup, config) {}

Bandit::Bandit(Spec spec, const AgentSetup& setup, const BanditConfig& config)
    : setup_(setup), config_(checked(config)) {
  const auto recipe = find_recipe(agent_catalogue(), "agent", spec);
  spec_ = spelled_out(spec, *recipe);
  agent_ = recipe->make(setup);
}

std::string Bandit::describe() const { return spec_.text; }

Choice Bandit::decide(ContextView x, const ActionSet& actions) {
  while (config_.default_after > 0) {
    const auto late = pending_.overdue(static_cast<std::uint64_t>(config_.default_after));
    if (!late) break;
    settle(*late, *pending_.find(*late), static_cast<float>(config_.default_reward));
  }
  const Decision decision = agent_->choose({.x = x, .actions = actions, .id = pending_.next_id()});
  const DecisionId id = pending_.add({.x = {x.begin(), x.end()}, .action = decision.action});
  return {.id = id, .action = decision.action};
}

bool Bandit::learn(DecisionId id, float reward) {
  const Outcome outcome{.id = id, .reward = reward};
  return learn({&outcome, 1}) == 1;
}

std::size_t Bandit::learn(std::span<const Outcome> outcomes) {
  for (const Outcome& outcome : outcomes) {
    pending_.find(outcome.id);
    if (!std::isfinite(outcome.reward)) {
      throw bad_input("the reward of decision {} must be finite, not {}", outcome.id, outcome.reward);
    }
  }
  std::size_t learned = 0;
  for (const Outcome& outcome : outcomes) {
    const PendingDecision* decision = pending_.find(outcome.id);
    if (decision == nullptr) continue;
    settle(outcome.id, *decision, outcome.reward);
    ++learned;
  }
  return learned;
}

void Bandit::learn(ContextView x, Action action, float reward) {
  const Feedback event{.x = x, .action = action, .reward = reward};
  agent_->learn({&event, 1});
}

void Bandit::settle(DecisionId id, const PendingDecision& decision, float reward) {
  const Feedback event{.x = decision.x, .action = decision.action, .reward = reward, .id = id};
  agent_->learn({&event, 1});
  pending_.remove(id);
}

void Bandit::state(Archive& archive) {
  archive(pending_);
  agent_->state(archive);
}

std::string Bandit::saved() const {
  Archive archive;
  Bandit& self = const_cast<Bandit&>(*this);  // a writing archive changes nothing
  archive(self.spec_.name, self.spec_.preset, self.spec_.assignments);
  setup_state(archive, self.setup_);
  config_state(archive, self.config_);
  self.state(archive);
  return sealed(kind, archive.bytes());
}

Bandit Bandit::from_saved(std::string_view bytes, std::string_view source) {
  Archive archive(unsealed(kind, bytes, source));
  try {
    Spec spec;
    archive(spec.name, spec.preset, spec.assignments);
    AgentSetup setup{};
    setup_state(archive, setup);
    BanditConfig config;
    config_state(archive, config);
    Bandit bandit(std::move(spec), setup, config);
    bandit.state(archive);
    archive.finish();
    return bandit;
  } catch (const Error& e) {
    throw bad_input("{}: {}", source, e.what());
  }
}

void Bandit::save(const std::filesystem::path& path) const { write_file_atomically(path, saved()); }

Bandit Bandit::load(const std::filesystem::path& path) {
  return from_saved(read_file(path), "'" + path.string() + "'");
}

}  // namespace pits
