// LiveBandit: decisions take no mutex and release the GIL.
#include <pybind11/stl.h>

#include "arrays.h"
#include "bindings.h"
#include "checks.h"
#include "constructed.h"
#include "fields.h"
#include "pits/log/sqlite_store.h"
#include "rows.h"
#include "shared_live.h"

PITS_ONLY_CONSTRUCTED(pits::python::SharedLive);

namespace pits::python {
namespace {

using Names = std::vector<std::string>;

// What is given must be what the log says. Settings that may change are changed.
void check_same(const Created& logged, const Created& given, const LiveBandit& live) {
  if (logged.agent != given.agent) throw bad_input("the log is of the agent {}, not {}", logged.agent, given.agent);
  if (logged.schema != given.schema) throw bad_input("a schema never changes; a new one needs a new directory");
  if (logged.context_size != given.context_size) {
    throw bad_input("the log has contexts of {} numbers, not {}", logged.context_size, given.context_size);
  }
  for (const std::string& name : given.actions) live.action(name);
}

// With a setup, a log that is not there is created; so is one whose creation was cut short, which has no event yet.
std::unique_ptr<LiveBandit> open_log(const std::filesystem::path& directory, const LiveSetup* setup = nullptr) {
  std::unique_ptr<SqliteStore> store;
  if (setup != nullptr || std::filesystem::exists(directory / "events.db")) {
    store = std::make_unique<SqliteStore>(directory);
  }
  if (!store || (setup == nullptr && store->last() == 0)) {
    throw bad_input("'{}' holds no log; give actions, and a schema or n_features, to create one", directory.string());
  }
  if (store->last() == 0) LiveBandit::create(*store, *setup);
  return std::make_unique<LiveBandit>(std::move(store));
}

std::unique_ptr<SharedLive> open(py::handle path) {
  const std::filesystem::path directory = path_of(path, "directory");
  const Computing computing;
  return std::make_unique<SharedLive>(open_log(directory));
}

std::unique_ptr<SharedLive> open_or_create(py::handle path, const std::string& agent, const Names& actions,
                                           const std::string& schema, std::size_t context_size,
                                           const std::optional<std::uint64_t>& seed, const py::dict& texts) {
  const std::filesystem::path directory = path_of(path, "directory");
  // Member by member: g++ 12 warns of uninitialised parts where a designated initialiser throws.
  LiveSetup setup;
  setup.agent = agent;
  setup.context_size = context_size;
  setup.actions = actions;
  setup.seed = seed;
  setup.schema = schema;
  assign(fields(setup.config), texts);
  std::vector<std::pair<std::string, std::string>> changes;
  for (const auto& [name, text] : texts) changes.emplace_back(name.cast<std::string>(), text.cast<std::string>());
  const Computing computing;
  const Created given = created_by(setup);  // before anything is written
  auto live = open_log(directory, &setup);
  check_same(live->created(), given, *live);
  if (seed && *seed != live->created().seed)
    throw bad_input("the log has the seed {}, not {}", live->created().seed, *seed);
  LiveConfig config = live->config();
  for (const auto& [name, text] : changes) fields(config).set(name, text);
  if (as_text(config) != as_text(live->config())) live->change_config(config);
  return std::make_unique<SharedLive>(std::move(live));
}

// (action, propensity, id, error): the action's name, or the place of a candidate.
py::tuple decision_of(const Choice& choice, const std::optional<std::string>& name) {
  const py::object action = name ? py::object(py::str(*name)) : py::object(py::int_(choice.action));
  return py::make_tuple(action, choice.propensity.value(), choice.id, choice.propensity_error);
}

struct Named {
  Choice choice;
  std::optional<std::string> name;
};

Named decide(LiveBandit& live, ContextView x, const ActionSet& actions, const DecisionLabels& labels) {
  const Choice choice = live.decide(x, actions, labels);
  if (actions.features.size() > 0 && live.created().actions.empty()) return {choice, std::nullopt};
  return {choice, live.name(choice.action)};
}

py::tuple decide_vector(const SharedLive& self, py::handle x, const std::string& key, const Names& allowed,
                        py::handle features) {
  const Numbers<float> context(x, "context", 1);
  const auto z = Numbers<float>::if_given(features, "candidates", 2);
  const Named made = self.call([&](LiveBandit& live) {
    return decide(live, context.flat(), {.features = z.matrix()}, {.key = key, .context = {}, .allowed = allowed});
  });
  return decision_of(made.choice, made.name);
}

const Schema& schema_of(const LiveBandit& live) {
  if (live.schema()) return *live.schema();
  throw bad_input("the bandit has no schema of named contexts: a context is a vector of numbers");
}

py::tuple decide_named(const SharedLive& self, const std::string& context, const std::string& key, const Names& allowed,
                       py::handle features) {
  const auto z = Numbers<float>::if_given(features, "candidates", 2);
  const Named made = self.call([&](LiveBandit& live) {
    const std::vector<float> x = schema_of(live).encode(context);
    return decide(live, x, {.features = z.matrix()}, {.key = key, .context = context, .allowed = allowed});
  });
  return decision_of(made.choice, made.name);
}

// Rows are checked before the first of them is decided.
py::list decide_many(const SharedLive& self, const Names& contexts, const Names& keys, const Names& allowed) {
  const std::vector<Named> made = self.call([&](LiveBandit& live) {
    const Schema& schema = schema_of(live);
    Matrix<float> rows(contexts.size(), schema.width());
    encode_rows(schema, contexts, rows.view());
    std::vector<Named> all;
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      check_interrupt();
      const DecisionLabels labels{.key = keys.empty() ? "" : keys[i], .context = contexts[i], .allowed = allowed};
      all.push_back(decide(live, std::as_const(rows).row(i), {}, labels));
    }
    return all;
  });
  py::list list;
  for (const Named& one : made) list.append(decision_of(one.choice, one.name));
  return list;
}

std::string answer_text(Answer answer) { return format_value(answer); }

std::string reward(const SharedLive& self, py::handle id, py::handle value, const std::string& key) {
  const Reward given{whole<DecisionId>(id, "id"), real_number(value, "value"), key};
  return answer_text(self.call([&](LiveBandit& live) { return live.reward(given); }));
}

Names rewards(const SharedLive& self, py::handle ids, py::handle values, const Names& keys) {
  const std::vector<DecisionId> decisions = whole_numbers<DecisionId>(ids, "ids");
  const Numbers<float> paid(values, "values", 1);
  if (decisions.size() != paid.flat().size() || (!keys.empty() && keys.size() != decisions.size())) {
    throw bad_input("{} ids need as many values, and as many keys or none, not {} and {}", decisions.size(),
                    paid.flat().size(), keys.size());
  }
  std::vector<Reward> given;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    given.push_back({decisions[i], paid.flat()[i], keys.empty() ? "" : keys[i]});
  }
  Names answers;
  for (const Answer answer : self.call([&](LiveBandit& live) { return live.reward(given); })) {
    answers.push_back(answer_text(answer));
  }
  return answers;
}

py::dict status(const SharedLive& self) {
  const LiveStatus now = self.call([](LiveBandit& live) { return live.status(); });
  py::dict dict;
  dict["committed"] = now.committed;
  dict["learned"] = now.learned;
  dict["queued"] = now.queued;
  dict["refused"] = now.refused;
  dict["trainings"] = now.trainings;
  dict["training"] = now.training;
  dict["problem"] = now.problem;
  return dict;
}

py::list config(const SharedLive& self) {
  LiveConfig now = self.call([](LiveBandit& live) { return live.config(); });
  return listed(fields(now));
}

void change(const SharedLive& self, const py::dict& texts) {
  LiveConfig config = self.call([](LiveBandit& live) { return live.config(); });
  assign(fields(config), texts);
  self.call([&](LiveBandit& live) {
    live.change_config(config);
    return 0;
  });
}

// A call without arguments of its own.
template <class Work>
auto calling(const Work& work) {
  return [work](const SharedLive& self) { return self.call(work); };
}

void bind_events(py::class_<SharedLive>& live) {
  const auto activate = [](const SharedLive& self, py::handle id) {
    const auto decision = whole<DecisionId>(id, "id");
    return answer_text(self.call([&](LiveBandit& l) { return l.activate(decision); }));
  };
  const auto cancel = [](const SharedLive& self, py::handle id) {
    const auto decision = whole<DecisionId>(id, "id");
    return answer_text(self.call([&](LiveBandit& l) { return l.cancel(decision); }));
  };
  live.def("_decide_vector", &decide_vector)
      .def("_decide_named", &decide_named)
      .def("_decide_many", &decide_many)
      .def("_reward", &reward)
      .def("_rewards", &rewards)
      .def("_activate", activate)
      .def("_cancel", cancel)
      .def("_find", [](const SharedLive& self, const std::string& key) {
        return self.call([&](LiveBandit& l) { return l.find(key); });
      });
}

}  // namespace

void bind_live(py::module_& module) {
  module.def("live_fields", [] {
    LiveConfig config;
    return listed(fields(config));
  });
  py::class_<SharedLive> live(module, "LiveBandit");
  live.def(py::init(&open), py::arg("directory"));
  live.def(py::init(&open_or_create), py::arg("directory"), py::arg("agent"), py::arg("actions"), py::arg("schema"),
           py::arg("n_features"), py::arg("seed"), py::arg("config"));
  bind_events(live);
  const auto add = [](const SharedLive& self, const Names& names) {
    self.call([&](LiveBandit& l) { return l.add_actions(names); });
  };
  const auto retire = [](const SharedLive& self, const std::string& name) {
    self.call([&](LiveBandit& l) {
      l.retire(name);
      return 0;
    });
  };
  live.def("_add_actions", add)
      .def("_retire", retire)
      .def("_actions", calling([](LiveBandit& l) { return l.actions(); }))
      .def("_agent", calling([](LiveBandit& l) { return l.created().agent; }))
      .def("_seed", calling([](LiveBandit& l) { return l.created().seed; }))
      .def("_n_features", calling([](LiveBandit& l) { return l.created().context_size; }))
      .def("_schema", calling([](LiveBandit& l) { return l.created().schema; }))
      .def("_columns", calling([](LiveBandit& l) { return l.schema() ? l.schema()->columns() : Names(); }))
      .def("_config", &config)
      .def("_change", &change)
      .def("_status", &status)
      .def("_flush", calling([](LiveBandit& l) { return l.flush(), 0; }))
      .def("_catch_up", calling([](LiveBandit& l) { return l.catch_up(), 0; }))
      .def("_saved",
           [](const SharedLive& self) { return py::bytes(self.call([](LiveBandit& l) { return l.saved(); })); })
      .def("_close", &SharedLive::close)
      .def("_close_at_exit", &SharedLive::close_at_exit)
      .def("_closed", &SharedLive::closed);
}

}  // namespace pits::python
