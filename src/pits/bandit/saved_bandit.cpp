#include <new>
#include <stdexcept>

#include "pits/bandit/bandit.h"
#include "pits/core/io/files.h"

namespace pits {
namespace {

constexpr std::string_view bandit_kind = "bandit", policy_kind = "policy";

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
  archive.version("AgentSetup", 1)(setup.context_size, setup.actions, setup.seed, setup.realization,
                                   setup.later_actions);
  const bool candidates = setup.actions == 0 && setup.later_actions == 0;  // the agent says whether it takes them
  if (!candidates && setup.later_actions >= setup.actions)
    throw bad_input("the saved setup has {} actions", setup.actions);
}

}  // namespace

void Bandit::state(Archive& archive) {
  if (archive.policy()) {
    archive.version("Policy", 1)(serving_.observed, serving_.retired);  // of the lists of all that is in it
  } else {
    archive.version("Bandit", 1)(pending_, serving_.observed, serving_.retired);
  }
  serving_.agent->archive(archive);
}

void Bandit::write(Archive& archive) const {
  Bandit& self = const_cast<Bandit&>(*this);  // a writing archive changes nothing
  archive(self.spec_.name, self.spec_.preset, self.spec_.assignments);
  AgentSetup setup = this->setup();
  setup_state(archive, setup);
  config_state(archive, self.serving_.config);
  self.state(archive);
}

std::string Bandit::saved() const {
  Archive archive;
  write(archive);
  return sealed(bandit_kind, archive.with_versions());
}

std::string Bandit::saved_policy() const {
  Archive archive;
  archive.set_policy();
  write(archive);
  return sealed(policy_kind, archive.with_versions());
}

Bandit Bandit::from_saved(std::string_view bytes, std::string_view source) { return read(bandit_kind, bytes, source); }

ServingPolicy Bandit::policy_from_saved(std::string_view bytes, std::string_view source) {
  return std::move(read(policy_kind, bytes, source).serving_);
}

Bandit Bandit::read(std::string_view kind, std::string_view bytes, std::string_view source) {
  const std::string content = unsealed(kind, bytes, source);
  try {
    Archive archive = Archive::from_versions(content);
    if (kind == policy_kind) archive.set_policy();
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
  } catch (const std::length_error&) {
    throw bad_input("{}: a size in the saved bandit is beyond any memory", source);
  } catch (const std::bad_alloc&) {
    throw failed("{}: the saved bandit does not fit into memory", source);
  }
}

void Bandit::save(const std::filesystem::path& path) const { write_file_atomically(path, saved()); }

Bandit Bandit::load(const std::filesystem::path& path) {
  return from_saved(read_file(path), "'" + path.string() + "'");
}

}  // namespace pits
