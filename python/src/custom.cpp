#include "custom.h"

#include "arrays.h"
#include "calls.h"
#include "checks.h"

namespace pits::python {
namespace {

// A Python object that any thread may copy and drop.
class Shared {
 public:
  explicit Shared(py::object object)
      : object_(new py::object(std::move(object)), [](py::object* held) {
          const WithGil gil;
          delete held;
        }) {}
  const py::object& operator*() const { return *object_; }

 private:
  std::shared_ptr<py::object> object_;
};

// A view of our memory that numpy must not outlive: what Python is given is a copy.
py::array_t<float> copied(ContextView x) { return array_of(x); }

// `whose` begins the error.
void need_methods(const py::object& object, const std::string& whose, std::initializer_list<const char*> methods,
                  const char* wanted) {
  for (const char* method : methods) {
    if (!py::hasattr(object, method) || PyCallable_Check(object.attr(method).ptr()) == 0) {
      throw bad_input("{} no method {}: it needs {}", whose, method, wanted);
    }
  }
}

// The runner says whose errors these are.
class CustomAgent final : public Cloned<CustomAgent> {
 public:
  CustomAgent(Shared object, const AgentSetup& setup) : Cloned(setup), object_(std::move(object)) {
    need_methods(*object_, "there is", {"choose", "learn"}, "choose(x) and learn(x, action, reward)");
  }

 private:
  Action decide(const Query& query, Stream&, ActionProbabilities*) const override {
    const WithGil gil;
    const py::object answer = (*object_).attr("choose")(copied(query.x));
    return whole<Action>(answer, "what choose returns", 0, static_cast<Action>(actions() - 1));
  }

  void observe(const Feedback& event) override {
    const WithGil gil;
    (*object_).attr("learn")(copied(event.x), event.action, event.reward);
  }

  void state(Archive&) override { throw failed("an agent in Python cannot be saved by pits"); }

  Shared object_;
};

void copy_numbers(py::handle given, const char* name, std::size_t size, std::vector<double>& out) {
  const py::array_t<double> numbers = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(given);
  if (!numbers) throw py::error_already_set();
  if (numbers.ndim() != 1 || static_cast<std::size_t>(numbers.size()) != size) {
    throw bad_input("draw gave {} {}, not {}", numbers.size(), name, size);
  }
  out.assign(numbers.data(), numbers.data() + size);
  for (const double x : out) {
    if (!std::isfinite(x)) throw bad_input("draw gave {} that are not finite", name);
  }
}

class CustomEnvironment final : public Environment {
 public:
  CustomEnvironment(const std::string& name, Shared object)
      : object_(std::move(object)),
        owner_("environment '" + name + "'"),
        context_size_(size<std::uint32_t>("n_features")),
        actions_(size<Action>("n_actions")) {
    if (py::hasattr(*object_, "horizon") && !(*object_).attr("horizon").is_none())
      horizon_ = size<std::size_t>("horizon");
    need_methods(*object_, owner_ + " has", {"draw"}, "draw(t)");
  }

  std::size_t context_size() const override { return context_size_; }
  std::size_t actions() const override { return actions_; }
  std::size_t horizon() const override { return horizon_; }

  void draw(std::size_t t, Round& round) const override {
    const WithGil gil;
    const py::object answer = (*object_).attr("draw")(t);
    const py::tuple drawn = PySequence_Check(answer.ptr()) != 0 ? py::tuple(answer) : py::make_tuple(answer);
    if (drawn.size() != 2 && drawn.size() != 3) {
      throw bad_input("draw must give (context, rewards) or (context, rewards, mean_rewards), not {} thing{}",
                      drawn.size(), drawn.size() == 1 ? "" : "s");
    }
    const Numbers<float> context(drawn[0], "the context of draw", 1);
    if (context.flat().size() != context_size_) {
      throw bad_input("draw gave a context of {} numbers, not {}", context.flat().size(), context_size_);
    }
    round.context.assign(context.flat().begin(), context.flat().end());
    copy_numbers(drawn[1], "rewards", actions_, round.rewards);
    copy_numbers(drawn[drawn.size() - 1], "mean rewards", actions_, round.mean_rewards);
  }

 private:
  template <class T>
  std::size_t size(const char* name) const {
    if (!py::hasattr(*object_, name)) throw bad_input("{} has no {}: a whole number of at least 1", owner_, name);
    return whole<T>((*object_).attr(name), fmt::format("{} of {}", name, owner_), 1);
  }

  Shared object_;
  std::string owner_;  // what errors call it
  std::size_t context_size_;
  std::size_t actions_;
  std::size_t horizon_ = std::numeric_limits<std::size_t>::max();
};

// Things without fields; `make` calls the factory with the GIL held.
template <class Product, class Setup, class Make>
Entry<Product, Setup> entry(const std::string& name, const py::object& factory, Make make) {
  struct CustomRecipe final : Recipe<Product, Setup> {
    CustomRecipe(std::string n, Shared f, Make m) : name_(std::move(n)), factory_(std::move(f)), make_(m) {}
    Fields fields() override { return {}; }
    std::unique_ptr<Product> make(const Setup& setup) const override {
      const WithGil gil;
      return make_(name_, *factory_, setup);
    }
    std::string name_;
    Shared factory_;
    Make make_;
  };
  return {name, "", {}, [name, shared = Shared(factory), make](std::string_view) {
            return std::make_unique<CustomRecipe>(name, shared, make);
          }};
}

}  // namespace

AgentEntry custom_agent(const std::string& label, py::object factory) {
  const auto make = [](const std::string&, const py::object& made, const AgentSetup& setup) {
    using namespace py::literals;
    return std::make_unique<CustomAgent>(Shared(made("n_actions"_a = setup.actions, "n_features"_a = setup.context_size,
                                                     "seed"_a = setup.seed, "realization"_a = setup.realization)),
                                         setup);
  };
  return entry<Agent, AgentSetup>(label, factory, make);
}

EnvironmentEntry custom_environment(const std::string& label, py::object factory) {
  const auto make = [](const std::string& name, const py::object& made, const EnvironmentSetup& setup) {
    using namespace py::literals;
    return std::make_unique<CustomEnvironment>(
        name, Shared(made("seed"_a = setup.seed, "realization"_a = setup.realization, "steps"_a = setup.steps)));
  };
  return entry<Environment, EnvironmentSetup>(label, factory, make);
}

}  // namespace pits::python
