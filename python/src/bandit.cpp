#include "pits/bandit/bandit.h"

#include <pybind11/stl.h>

#include "arrays.h"
#include "bindings.h"
#include "calls.h"
#include "checks.h"
#include "constructed.h"
#include "decision.h"
#include "fields.h"

namespace pits::python {
namespace {

// A bandit that Python's threads share: one at a time.
struct SharedBandit {
  Bandit bandit;
  mutable std::recursive_mutex mutex{};

  explicit SharedBandit(Bandit made) : bandit(std::move(made)) {}
};

}  // namespace
}  // namespace pits::python

PITS_ONLY_CONSTRUCTED(pits::python::SharedBandit);

namespace pits::python {
namespace {

BanditConfig config_of(const py::dict& texts) {
  BanditConfig config;
  assign(fields(config), texts);
  return config;
}

std::unique_ptr<SharedBandit> make(const std::string& spec, std::size_t n_actions, std::size_t n_features,
                                   std::uint64_t seed, const py::dict& config) {
  const AgentSetup setup{.context_size = n_features, .actions = n_actions, .seed = seed};
  return std::make_unique<SharedBandit>(Bandit(spec, setup, config_of(config)));
}

std::unique_ptr<SharedBandit> from_bytes(const py::bytes& bytes, const std::string& source) {
  return std::make_unique<SharedBandit>(Bandit::from_saved(std::string_view(bytes), source));
}

py::object decide(SharedBandit& self, py::handle x, py::handle allowed, py::handle features) {
  const Numbers<float> context(x, "x", 1);
  const Actions actions(allowed, features);
  return decision_of(exclusively(self.mutex, [&] { return self.bandit.decide(context.flat(), actions.view()); }));
}

py::list rank(SharedBandit& self, py::handle x, py::handle k, py::handle allowed, py::handle features) {
  const auto places = whole<std::size_t>(k, "k", 1);
  const Numbers<float> context(x, "x", 1);
  const Actions actions(allowed, features);
  const auto choices =
      exclusively(self.mutex, [&] { return self.bandit.rank(context.flat(), places, actions.view()); });
  py::list list;
  for (const Choice& choice : choices) list.append(decision_of(choice));
  return list;
}

py::tuple probabilities(const SharedBandit& self, py::handle x, py::handle allowed, py::handle features) {
  const Numbers<float> contexts(x, "X", 2);
  const Actions actions(allowed, features);
  const ConstMatrixView<float> rows = contexts.matrix();
  Matrix<float> p;
  const double error = exclusively(self.mutex, [&] {
    double largest = 0.0;
    p = Matrix<float>(rows.rows(), self.bandit.setup().actions);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      check_interrupt();
      largest = std::max(largest, self.bandit.probabilities(rows.row(i), p.row(i), actions.view(), i));
    }
    return largest;
  });
  return py::make_tuple(py::array_t<float>({p.rows(), p.cols()}, p.data()), error);
}

std::size_t learn_outcomes(SharedBandit& self, const std::vector<DecisionId>& ids, std::span<const float> rewards) {
  if (ids.size() != rewards.size()) throw bad_input("{} ids need as many rewards, not {}", ids.size(), rewards.size());
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < ids.size(); ++i) outcomes.push_back({.id = ids[i], .reward = rewards[i]});
  return exclusively(self.mutex, [&] { return self.bandit.learn(outcomes); });
}

bool learn_one(SharedBandit& self, DecisionId id, float reward) {
  return exclusively(self.mutex, [&] { return self.bandit.learn(id, reward); });
}

// Many: numpy's arrays, lists and their like.
bool is_many(py::handle ids) {
  if (py::isinstance<py::array>(ids)) return py::reinterpret_borrow<py::array>(ids).ndim() > 0;
  return PySequence_Check(ids.ptr()) != 0 && !py::isinstance<py::str>(ids);
}

// A Decision or its id and its reward, or many ids and their rewards.
py::object learn_given(SharedBandit& self, py::handle ids, py::handle rewards) {
  if (const auto id = id_in_decision(ids)) return py::bool_(learn_one(self, *id, real_number(rewards, "reward")));
  if (!is_many(ids)) {
    const auto id = whole<DecisionId>(ids, "id");
    return py::bool_(learn_one(self, id, real_number(rewards, "reward")));
  }
  const Numbers<float> values(rewards, "rewards", 1);
  return py::int_(learn_outcomes(self, whole_numbers<DecisionId>(ids, "ids"), values.flat()));
}

void learn_observed(SharedBandit& self, py::handle x, py::handle action, py::handle reward, py::handle features) {
  const Numbers<float> context(x, "x", 1);
  const auto z = Numbers<float>::if_given(features, "features", 1);
  const auto played = whole<Action>(action, "action");
  const float paid = real_number(reward, "reward");
  exclusively(self.mutex, [&] { self.bandit.learn(context.flat(), played, paid, z.flat()); });
}

// What fits none of the ways to call it.
void learn_otherwise(const SharedBandit&, const py::args& args, const py::kwargs& kwargs) {
  throw bad_input("learn takes (id, reward), (ids, rewards) or (x, action, reward), not {} argument{}",
                  args.size() + kwargs.size(), args.size() + kwargs.size() == 1 ? "" : "s");
}

std::optional<double> replay(SharedBandit& self, py::handle x, py::handle actions, py::handle rewards,
                             py::handle propensities, py::handle features) {
  const Numbers<float> contexts(x, "X", 2), paid(rewards, "rewards", 1);
  const auto logged = Numbers<float>::if_given(propensities, "propensities", 1);
  const auto z = Numbers<float>::if_given(features, "features", 2);
  const std::vector<Action> played = whole_numbers<Action>(actions, "actions");
  return exclusively(self.mutex, [&] {
    return self.bandit.fit({.contexts = contexts.matrix(),
                            .actions = played,
                            .rewards = paid.flat(),
                            .propensities = logged.flat(),
                            .features = z.matrix()},
                           check_interrupt);
  });
}

// Seconds of `n` decisions in C++: what bench/python_calls.py compares Python's calls with.
double seconds_of_decisions(SharedBandit& self, py::handle x, std::size_t n) {
  const Numbers<float> context(x, "x", 1);
  return exclusively(self.mutex, [&] {
    const auto before = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < n; ++i) self.bandit.decide(context.flat());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  });
}

// A property that is read while no other thread writes.
template <class Read>
auto reading(const Read& read) {
  return [read](const SharedBandit& self) { return exclusively(self.mutex, [&] { return read(self.bandit); }); };
}

void bind_deciding(py::class_<SharedBandit>& bandit) {
  bandit
      .def("decide", &decide, py::arg("x"), py::arg("allowed") = py::none(), py::arg("features") = py::none(),
           "The action for the context x, its probability, and the id for its reward.")
      .def("rank", &rank, py::arg("x"), py::arg("k"), py::arg("allowed") = py::none(), py::arg("features") = py::none(),
           "The best action, the next best by the same draws, and so on: k decisions, each with its own id.")
      .def("_probabilities", &probabilities)
      .def("_seconds_of_decisions", &seconds_of_decisions);
}

void bind_learning(py::class_<SharedBandit>& bandit) {
  bandit
      .def("learn", &learn_given, py::arg("id"), py::arg("reward"),
           "The reward of a decision, by its id; False if it already has one. learn(decision, reward) does the same, "
           "learn(ids, rewards) takes many and returns the number of new ones, and learn(x, action, reward) learns a "
           "round that was decided elsewhere.")
      .def("learn", &learn_observed, py::arg("x"), py::arg("action"), py::arg("reward"),
           py::arg("features") = py::none())
      .def("learn", &learn_otherwise)
      .def("replay", &replay, py::arg("X"), py::arg("actions"), py::arg("rewards"),
           py::arg("propensities") = py::none(), py::arg("features") = py::none(),
           "Learns logged rounds in order. With propensities, returns an estimate of the reward per round that this "
           "bandit would have earned, each round decided by what was known before it; otherwise None.");
}

void bind_actions(py::class_<SharedBandit>& bandit) {
  const auto add = [](SharedBandit& self, py::handle n) {
    const auto more = whole<Action>(n, "n");
    return exclusively(self.mutex, [&] { return self.bandit.add_actions(more); });
  };
  const auto retire = [](SharedBandit& self, py::handle given) {
    const auto action = whole<Action>(given, "action");
    exclusively(self.mutex, [&] { self.bandit.retire(action); });
  };
  const auto retired = [](const SharedBandit& self) {
    return exclusively(self.mutex, [&] {
      std::vector<Action> list;
      for (Action a = 0; a < self.bandit.setup().actions; ++a) {
        if (self.bandit.retired(a)) list.push_back(a);
      }
      return list;
    });
  };
  bandit.def("add_actions", add, py::arg("n") = 1, "Adds n actions that start from the prior; returns the first one.")
      .def("retire", retire, py::arg("action"), "No later decision takes this action.")
      .def_property_readonly("retired", retired, "The actions that no decision takes.")
      .def_property_readonly("n_actions", reading([](const Bandit& b) { return b.setup().actions; }),
                             "K, the number of actions, retired ones included.")
      .def_property_readonly("n_features", reading([](const Bandit& b) { return b.setup().context_size; }),
                             "d, the size of a context.")
      .def_property_readonly("seed", reading([](const Bandit& b) { return b.setup().seed; }))
      .def_property_readonly("pending", reading([](const Bandit& b) { return b.pending(); }),
                             "Decisions that wait for a reward.");
}

}  // namespace

void bind_bandit(py::module_& module) {
  py::class_<SharedBandit> bandit(module, "Bandit");
  bandit.def(py::init(&make), py::arg("spec"), py::arg("n_actions"), py::arg("n_features"), py::arg("seed"),
             py::arg("config"));
  bandit.def(py::init(&from_bytes), py::arg("saved"), py::arg("source"));
  bind_deciding(bandit);
  bind_learning(bandit);
  bind_actions(bandit);
  bandit
      .def(
          "save",
          [](const SharedBandit& self, py::handle path) {
            const std::filesystem::path file = path_of(path, "path");
            exclusively(self.mutex, [&] { self.bandit.save(file); });
          },
          py::arg("path"), "Writes the bandit to a file, which appears whole or not at all; pits.load continues bit for bit.")
      .def("_saved",
           [](const SharedBandit& self) {
             return py::bytes(exclusively(self.mutex, [&] { return self.bandit.saved(); }));
           })
      .def("_describe", reading([](const Bandit& b) { return b.describe(); }))
      .def("_bandit_config", [](const SharedBandit& self) {
        BanditConfig config = exclusively(self.mutex, [&] { return self.bandit.config(); });
        return listed(fields(config));
      });
}

}  // namespace pits::python
